package dev.rackcall.perf.social;

import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What the services call each other through. */
enum SocialTransport {
    RACKCALL("shared memory, CompletableFuture stubs, Dispatch.direct(), default (adaptive) waiting") {
        @Override
        ServerSide serve(Path directory, SocialRole role) throws IOException {
            Connections connections = connect(directory);
            RpcServer server = start(directory, role, role.type(), role.service(connections));
            return () -> {
                server.close();
                connections.close();
            };
        }

        private <T> RpcServer start(Path directory, SocialRole role, Class<T> type, Object service) throws IOException {
            return RpcServer.builder()
                    .runtimeFolder(directory)
                    .service(type, type.cast(service), role.channel())
                    .start();
        }

        @Override
        Connections connect(Path directory) {
            List<RpcChannel> channels = new ArrayList<>();
            return new Connections() {
                @Override
                public <T> T of(SocialRole role, Class<T> type) {
                    RpcChannel channel = RpcChannel.builder(role.channel())
                            .runtimeFolder(directory)
                            .waitForReady(START_BOUND)
                            .open();
                    channels.add(channel);
                    return channel.stub(type);
                }

                @Override
                public void close() {
                    channels.forEach(RpcChannel::close);
                }
            };
        }
    },
    GRPC(SocialGrpc.SETTINGS) {
        @Override
        ServerSide serve(Path directory, SocialRole role) throws IOException {
            return SocialGrpc.serve(directory, role);
        }

        @Override
        Connections connect(Path directory) {
            return SocialGrpc.connect(directory);
        }
    };

    private static final Duration START_BOUND = Duration.ofMinutes(2);

    private final String settings;

    SocialTransport(String settings) {
        this.settings = settings;
    }

    /** Its part of the names of results. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The choices for the report. */
    String settings() {
        return settings;
    }

    /** Connections to the services of a network. */
    interface Connections extends AutoCloseable {
        /** The service of that role, whose interface is {@code type}. */
        <T> T of(SocialRole role, Class<T> type);

        @Override
        void close();
    }

    /** Starts a service; those that it calls run already. */
    abstract ServerSide serve(Path directory, SocialRole role) throws IOException;

    /** For calls to the services of that directory. */
    abstract Connections connect(Path directory);
}
