package dev.rackcall.perf;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A call through a typed Rackcall stub, to a server with one polling thread that runs the handlers itself. */
final class RackcallSubject extends Subject {
    /** How the argument travels. */
    enum Argument {
        NUMBER,
        VALUE,
        POINTER
    }

    private static final String CHANNEL = "/bench/calls";

    private final Road road;
    private final Argument argument;

    RackcallSubject(String name, Road road, Argument argument, int bytes) {
        super(name, bytes);
        this.road = road;
        this.argument = argument;
    }

    @Override
    Target target() {
        return road.target();
    }

    @Override
    String group() {
        return road.group();
    }

    @Override
    String floor() {
        return road.floor();
    }

    @Override
    String settings() {
        String common = road.words()
                + ", synchronous typed stub, handlers on the polling thread, default (adaptive) waiting on both sides";
        return switch (argument) {
            case NUMBER -> "a number there and back" + common + "; throughput by CompletableFuture";
            case VALUE ->
                "byte[] there and back by value"
                        + (road.mirrors() ? ", each word another one than in the call before" : "") + common;
            case POINTER ->
                "a graph of " + Graph.describe(bytes())
                        + " by pointer; the caller writes into its root before each call, the"
                        + " handler reads it there" + common;
        };
    }

    @Override
    boolean spins() {
        // One processor for the server's process would be one for server and agent, which would take turns there.
        return road != Road.QUEUES_OF_AGENT;
    }

    @Override
    boolean takesTurns() {
        return true;
    }

    @Override
    boolean pipelines() {
        return argument == Argument.NUMBER && road == Road.SHARED_MEMORY;
    }

    @Override
    boolean takesManyConnections() {
        return argument == Argument.NUMBER && road == Road.SHARED_MEMORY;
    }

    @Override
    ServerSide serve(Path directory) throws IOException {
        RpcServer server = road.place(RpcServer.builder()
                        .service(BenchCalls.class, new BenchHandlers())
                        .waiting(WaitStrategy.adaptive())
                        .directory(directory.resolve("rackcall")))
                .start();
        road.announce(server, directory);
        return server::close;
    }

    @Override
    ClientSide connect(Path directory) throws IOException {
        RpcChannel channel = road.place(
                        RpcChannel.builder(CHANNEL)
                                .waiting(WaitStrategy.adaptive())
                                .directory(directory.resolve("rackcall")),
                        directory)
                .open();
        BenchCalls calls = channel.stub(BenchCalls.class);
        return switch (argument) {
            case NUMBER -> new NumberClient(name(), channel, calls);
            case VALUE -> new ValueClient(name(), channel, calls, payloads());
            case POINTER -> new PointerClient(name(), channel, calls, Graph.build(channel, bytes()));
        };
    }

    /** Where only what has changed travels, one payload after the other, so that all of it has: an odd number of them, since slots come round after an even number of calls. */
    private List<byte[]> payloads() {
        byte[] payload = Payload.of(bytes());
        return road.mirrors() ? List.of(payload, Payload.unlike(payload), new byte[bytes()]) : List.of(payload);
    }

    private record NumberClient(String name, RpcChannel channel, BenchCalls calls) implements ClientSide {
        @Override
        public void call(long sequence) {
            long reply = calls.noop(sequence);
            if (reply != sequence) {
                throw new WrongReplyException(name, sequence, reply);
            }
        }

        @Override
        public Pipeline pipeline(int depth) {
            return new RackcallPipeline(name, calls, depth);
        }

        @Override
        public void close() {
            channel.close();
        }
    }

    private static final class ValueClient implements ClientSide {
        private final String name;
        private final RpcChannel channel;
        private final BenchCalls calls;
        private final List<byte[]> payloads;

        ValueClient(String name, RpcChannel channel, BenchCalls calls, List<byte[]> payloads) {
            this.name = name;
            this.channel = channel;
            this.calls = calls;
            this.payloads = payloads;
        }

        @Override
        public void call(long sequence) {
            byte[] payload = payloads.get((int) (sequence % payloads.size()));
            Payload.mark(payload, sequence);
            Payload.check(name, calls.echo(payload), payload.length, sequence);
        }

        @Override
        public void close() {
            channel.close();
        }
    }

    private record PointerClient(String name, RpcChannel channel, BenchCalls calls, Graph graph) implements ClientSide {
        @Override
        public void call(long sequence) {
            graph.root().sequence(sequence);
            long reply = calls.touch(graph.root());
            if (reply != sequence) {
                throw new WrongReplyException(name, sequence, reply);
            }
        }

        @Override
        public void close() {
            graph.scope().close();
            channel.close();
        }
    }
}
