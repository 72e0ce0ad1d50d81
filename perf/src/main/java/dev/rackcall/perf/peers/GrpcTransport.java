package dev.rackcall.perf.peers;

import dev.rackcall.grpc.RackcallChannelBuilder;
import dev.rackcall.grpc.RackcallServerBuilder;
import dev.rackcall.grpc.RackcallSocketAddress;
import dev.rackcall.perf.harness.ServerSide;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerServiceDefinition;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollServerSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.unix.DomainSocketAddress;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import io.grpc.stub.ServerCalls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;

/** The ways in which grpc-java connects two ends on one machine. */
public enum GrpcTransport {
    /** Both ends in one process. */
    IN_PROCESS("in-process") {
        @Override
        ServerBuilder<?> server(Path directory) {
            return InProcessServerBuilder.forName(directory.toString());
        }

        @Override
        public ManagedChannelBuilder<?> channel(Path directory) {
            return InProcessChannelBuilder.forName(directory.toString());
        }
    },
    /** Shared memory, by Rackcall's transport. */
    RACKCALL("Rackcall") {
        @Override
        ServerBuilder<?> server(Path directory) {
            return RackcallServerBuilder.forAddress(address(directory)).maxInboundMessageSize(WINDOW);
        }

        @Override
        public ManagedChannelBuilder<?> channel(Path directory) {
            return RackcallChannelBuilder.forAddress(address(directory)).maxInboundMessageSize(WINDOW);
        }

        private RackcallSocketAddress address(Path directory) {
            return RackcallSocketAddress.of("/bench/grpc", directory);
        }
    },
    UNIX_SOCKET("Unix socket") {
        @Override
        ServerBuilder<?> server(Path directory) {
            return netty(NettyServerBuilder.forAddress(socket(directory)))
                    .channelType(EpollServerDomainSocketChannel.class);
        }

        @Override
        public ManagedChannelBuilder<?> channel(Path directory) {
            return netty(NettyChannelBuilder.forAddress(socket(directory)))
                    .channelType(EpollDomainSocketChannel.class, DomainSocketAddress.class);
        }

        private SocketAddress socket(Path directory) {
            return new DomainSocketAddress(directory.resolve("grpc.sock").toFile());
        }
    },
    TCP("TCP loopback") {
        @Override
        ServerBuilder<?> server(Path directory) {
            return netty(NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)))
                    .channelType(EpollServerSocketChannel.class);
        }

        @Override
        public ManagedChannelBuilder<?> channel(Path directory) throws IOException {
            int port = Integer.parseInt(Files.readString(directory.resolve(PORT_FILE)));
            return netty(NettyChannelBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)))
                    .channelType(EpollSocketChannel.class, InetSocketAddress.class);
        }
    };

    /** The server side writes its port there. */
    private static final String PORT_FILE = "grpc.port";
    /** Large enough that a 1 MiB message never waits for a window update. */
    private static final int WINDOW = 8 << 20;

    private final String words;

    GrpcTransport(String words) {
        this.words = words;
    }

    /** The choices for the report. */
    String settings() {
        return settings("direct executors, unary byte[] without protobuf");
    }

    String settings(String calls) {
        String common = "grpc-java 1.83, " + words + ", " + calls;
        return this == IN_PROCESS || this == RACKCALL
                ? common
                : common + ", one epoll event loop a side, 8 MiB flow-control window";
    }

    abstract ServerBuilder<?> server(Path directory) throws IOException;

    /** A channel to the server of that directory. */
    public abstract ManagedChannelBuilder<?> channel(Path directory) throws IOException;

    <Q, R> ServerSide serve(Path directory, MethodDescriptor<Q, R> method, Function<Q, R> handler) throws IOException {
        return serve(
                directory,
                true,
                ServerServiceDefinition.builder(method.getServiceName())
                        .addMethod(method, ServerCalls.asyncUnaryCall((request, replies) -> {
                            replies.onNext(handler.apply(request));
                            replies.onCompleted();
                        }))
                        .build());
    }

    /** Serves a service, on the transport's thread or on gRPC's own thread pool. */
    public ServerSide serve(Path directory, boolean direct, ServerServiceDefinition service) throws IOException {
        ServerBuilder<?> builder = server(directory).addService(service);
        Server server = (direct ? builder.directExecutor() : builder).build().start();
        if (server.getPort() > 0) {
            Files.writeString(directory.resolve(PORT_FILE), Integer.toString(server.getPort()));
        }
        return server::shutdownNow;
    }

    private static NettyServerBuilder netty(NettyServerBuilder builder) {
        EventLoopGroup loop = eventLoop("grpc-server");
        return builder.bossEventLoopGroup(loop)
                .workerEventLoopGroup(loop)
                .flowControlWindow(WINDOW)
                .maxInboundMessageSize(WINDOW);
    }

    private static NettyChannelBuilder netty(NettyChannelBuilder builder) {
        return builder.eventLoopGroup(eventLoop("grpc-client"))
                .usePlaintext()
                .flowControlWindow(WINDOW)
                .maxInboundMessageSize(WINDOW);
    }

    /** One thread a side: there is one connection. */
    private static EventLoopGroup eventLoop(String name) {
        return new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory(name, true), EpollIoHandler.newFactory());
    }
}
