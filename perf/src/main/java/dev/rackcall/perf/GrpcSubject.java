package dev.rackcall.perf;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/** A unary call through grpc-java that returns its argument. */
class GrpcSubject extends Subject {
    private static final int SMALL = 64;

    private final GrpcTransport transport;
    /** The call over RDMA that it is compared with, if any. */
    private final Optional<String> beside;

    GrpcSubject(String name, GrpcTransport transport, int bytes) {
        this(name, transport, bytes, Optional.empty());
    }

    GrpcSubject(String name, GrpcTransport transport, int bytes, Optional<String> beside) {
        super(name, bytes);
        this.transport = transport;
        this.beside = beside;
    }

    /** Over TCP, in turn with a call over RDMA. */
    static GrpcSubject beside(String name, String call, int bytes) {
        return new GrpcSubject(name, GrpcTransport.TCP, bytes, Optional.of(call));
    }

    @Override
    final Target target() {
        return beside.isPresent() ? Target.RDMA : super.target();
    }

    @Override
    final String group() {
        return beside.isPresent() ? Road.RDMA.group() : super.group();
    }

    @Override
    final String floor() {
        return beside.orElseGet(super::floor);
    }

    @Override
    final boolean takesTurns() {
        return beside.isPresent();
    }

    @Override
    String settings() {
        String common = "grpc-java 1.83, " + transport.words() + ", direct executors, unary byte[] without protobuf";
        return crossProcess() ? common + ", one epoll event loop a side, 8 MiB flow-control window" : common;
    }

    @Override
    List<String> jvmFlags() {
        // Netty warns about a socket option that gRPC sets and Unix sockets do not have.
        return List.of("-Dorg.slf4j.simpleLogger.log.io.grpc.netty.shaded=error");
    }

    @Override
    boolean crossProcess() {
        return transport != GrpcTransport.IN_PROCESS;
    }

    @Override
    boolean pipelines() {
        return bytes() == SMALL && beside.isEmpty();
    }

    @Override
    boolean takesManyConnections() {
        return crossProcess() && pipelines();
    }

    @Override
    ServerSide serve(Path directory) throws IOException {
        Server server = transport
                .server(directory)
                .directExecutor()
                .addService(service())
                .build()
                .start();
        if (server.getPort() > 0) {
            Files.writeString(directory.resolve(GrpcTransport.PORT_FILE), Integer.toString(server.getPort()));
        }
        return server::shutdownNow;
    }

    ServerServiceDefinition service() {
        return GrpcEcho.service();
    }

    @Override
    final ClientSide connect(Path directory) throws IOException {
        return client(transport.channel(directory).directExecutor().build());
    }

    ClientSide client(ManagedChannel channel) {
        return new Client(name(), bytes(), channel);
    }

    private static final class Client implements ClientSide {
        private final String name;
        private final int bytes;
        private final ManagedChannel channel;
        private final byte[] payload;
        private final CallOptions options = CallOptions.DEFAULT;

        Client(String name, int bytes, ManagedChannel channel) {
            this.name = name;
            this.bytes = bytes;
            this.channel = channel;
            this.payload = Payload.of(bytes);
        }

        @Override
        public void call(long sequence) {
            Payload.mark(payload, sequence);
            // No deadline here: gRPC would pay for a timer per call. The coordinator bounds the run.
            byte[] reply = ClientCalls.blockingUnaryCall(channel, GrpcEcho.METHOD, options, payload);
            Payload.check(name, reply, bytes, sequence);
        }

        @Override
        public Pipeline pipeline(int depth) {
            return new Calls();
        }

        @Override
        public void close() {
            channel.shutdownNow();
        }

        /** The calling thread sleeps while nothing has come back, so that it takes no core from the event loops. */
        private final class Calls implements Pipeline {
            private final LinkedBlockingQueue<Reply> replies = new LinkedBlockingQueue<>();

            @Override
            public boolean offer(long sequence) {
                byte[] request = payload.clone();
                Payload.mark(request, sequence);
                ClientCalls.asyncUnaryCall(
                        channel.newCall(GrpcEcho.METHOD, options), request, new Reply(sequence, replies));
                return true;
            }

            @Override
            public int poll(LongConsumer done) throws InterruptedException {
                Reply reply = replies.poll(1, TimeUnit.MILLISECONDS);
                int taken = 0;
                while (reply != null) {
                    Payload.check(name, reply.value(), bytes, reply.sequence);
                    done.accept(reply.sequence);
                    taken++;
                    reply = replies.poll();
                }
                return taken;
            }
        }
    }

    private static final class Reply implements StreamObserver<byte[]> {
        private final long sequence;
        private final LinkedBlockingQueue<Reply> done;
        private byte[] value = {};
        private Throwable failure;

        Reply(long sequence, LinkedBlockingQueue<Reply> done) {
            this.sequence = sequence;
            this.done = done;
        }

        byte[] value() {
            if (failure != null) {
                throw new IllegalStateException("call " + sequence + " failed", failure);
            }
            return value;
        }

        @Override
        public void onNext(byte[] reply) {
            value = reply;
        }

        @Override
        public void onError(Throwable cause) {
            failure = cause;
            done.add(this);
        }

        @Override
        public void onCompleted() {
            done.add(this);
        }
    }
}
