package dev.rackcall.perf;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.nio.file.Path;

/** A call through a typed Rackcall stub, to a server with one polling thread that runs the handlers itself. */
final class RackcallSubject extends Subject {
    /** How the argument travels. */
    enum Argument {
        NUMBER,
        VALUE,
        POINTER
    }

    private static final String CHANNEL = "/bench/calls";

    private final Argument argument;

    RackcallSubject(String name, Argument argument, int bytes) {
        super(name, bytes);
        this.argument = argument;
    }

    @Override
    String settings() {
        String common =
                ", synchronous typed stub, handlers on the polling thread, default (adaptive) waiting on both sides";
        return switch (argument) {
            case NUMBER -> "a number there and back" + common + "; throughput by CompletableFuture";
            case VALUE -> "byte[] there and back by value" + common;
            case POINTER ->
                "a graph of " + Graph.describe(bytes())
                        + " by pointer; the caller writes into its root before each call, the"
                        + " handler reads it there" + common;
        };
    }

    @Override
    boolean spins() {
        return true;
    }

    @Override
    boolean pipelines() {
        return argument == Argument.NUMBER;
    }

    @Override
    boolean takesManyConnections() {
        return argument == Argument.NUMBER;
    }

    @Override
    ServerSide serve(Path directory) {
        RpcServer server = RpcServer.builder()
                .service(BenchCalls.class, new BenchHandlers())
                .waiting(WaitStrategy.adaptive())
                .directory(directory.resolve("rackcall"))
                .start();
        return server::close;
    }

    @Override
    ClientSide connect(Path directory) {
        RpcChannel channel = RpcChannel.builder(CHANNEL)
                .waiting(WaitStrategy.adaptive())
                .directory(directory.resolve("rackcall"))
                .open();
        BenchCalls calls = channel.stub(BenchCalls.class);
        return switch (argument) {
            case NUMBER -> new NumberClient(name(), channel, calls);
            case VALUE -> new ValueClient(name(), channel, calls, Payload.of(bytes()));
            case POINTER -> new PointerClient(name(), channel, calls, Graph.build(channel, bytes()));
        };
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
        private final byte[] payload;

        ValueClient(String name, RpcChannel channel, BenchCalls calls, byte[] payload) {
            this.name = name;
            this.channel = channel;
            this.calls = calls;
            this.payload = payload;
        }

        @Override
        public void call(long sequence) {
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
