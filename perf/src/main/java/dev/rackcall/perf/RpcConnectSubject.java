package dev.rackcall.perf;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.io.IOException;
import java.nio.file.Path;

/** A connection for calls: a channel opened, a number there and back, and the channel closed. */
final class RpcConnectSubject extends Subject {
    private static final String CHANNEL = "/bench/calls";
    /** Reserving more memory would be what is measured. */
    private static final long ARENA_QUOTA = 64 << 10;

    private static final int SLOTS = 8;

    private final Road road;

    RpcConnectSubject(String name, Road road) {
        super(name, 0);
        this.road = road;
    }

    @Override
    Target target() {
        return Target.CONNECT;
    }

    @Override
    String group() {
        return "connect";
    }

    @Override
    String floor() {
        return "connect-fresh-rc";
    }

    @Override
    String settings() {
        return "a channel opened, one number there and back, and the channel closed" + road.words();
    }

    @Override
    boolean spins() {
        return true;
    }

    @Override
    ServerSide serve(Path directory) throws IOException {
        RpcServer server = road.place(RpcServer.builder()
                        .service(BenchCalls.class, new BenchHandlers())
                        .directory(directory.resolve("rackcall")))
                .start();
        road.announce(server, directory);
        return server::close;
    }

    @Override
    ClientSide connect(Path directory) throws IOException {
        RpcChannel.Builder builder = road.place(
                        RpcChannel.builder(CHANNEL).directory(directory.resolve("rackcall")), directory)
                .arenaQuota(ARENA_QUOTA)
                .slots(SLOTS);
        return new Connecting(name(), builder);
    }

    private record Connecting(String name, RpcChannel.Builder builder) implements ClientSide {
        @Override
        public void call(long sequence) {
            try (RpcChannel channel = builder.open()) {
                long reply = channel.stub(BenchCalls.class).noop(sequence);
                if (reply != sequence) {
                    throw new WrongReplyException(name, sequence, reply);
                }
            }
        }

        @Override
        public void close() {
            // Each call has closed what it opened.
        }
    }
}
