package dev.rackcall.perf.calls;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.Payload;
import dev.rackcall.perf.harness.Pipeline;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.WrongReplyException;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Figures;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.LongConsumer;

/**
 * A call through a typed Rackcall stub, to a server with one polling thread that runs the handlers itself.
 *
 * @param name the subject
 * @param transport the transport of the call
 * @param argument what the call carries
 * @param bytes of the argument
 */
public record RackcallCall(String name, BenchTransport transport, Argument argument, int bytes) implements Sides {
    /** What a call carries. */
    public enum Argument {
        NUMBER,
        /** Bytes by value. */
        VALUE,
        /** A {@link Graph} by pointer. */
        POINTER,
        /** A number, over a channel that is opened for the call and closed after it. */
        CONNECTION
    }

    /** With a larger quota, a connection for one call would mostly measure the reservation of memory. */
    private static final long CONNECTION_QUOTA = 64 << 10;

    private static final int CONNECTION_SLOTS = 8;

    public static Subject subject(String name, BenchTransport transport, Argument argument, int bytes) {
        RackcallCall sides = new RackcallCall(name, transport, argument, bytes);
        Set<Subject.Trait> traits = EnumSet.of(Subject.Trait.TAKES_TURNS);
        // Not pinned with an agent: its process is also the server's, and both would take turns on one processor.
        if (transport != BenchTransport.QUEUES_OF_AGENT) {
            traits.add(Subject.Trait.SPINS);
        }
        if (transport == BenchTransport.SHARED_MEMORY && argument == Argument.NUMBER) {
            traits.add(Subject.Trait.PIPELINES);
            traits.add(Subject.Trait.MANY_CONNECTIONS);
        }
        Subject subject = Subject.of(name, bytes, sides.settings(), sides, traits.toArray(Subject.Trait[]::new));
        return argument == Argument.CONNECTION
                ? subject.in(BenchTarget.CONNECT, "connect", "connect-fresh-rc")
                : transport.measured(subject);
    }

    /** A subject over shared memory whose sides have no processor of their own, as on most users' machines. */
    public static Subject unpinned(String name, Argument argument, int bytes) {
        RackcallCall sides = new RackcallCall(name, BenchTransport.SHARED_MEMORY, argument, bytes);
        return Subject.of(name, bytes, sides.settings() + "; not pinned", sides, Subject.Trait.TAKES_TURNS);
    }

    private String settings() {
        String common = transport.words()
                + ", synchronous typed stub, handlers on the polling thread, default (adaptive) waiting on both sides";
        return switch (argument) {
            case NUMBER -> "a number there and back" + common + "; throughput by CompletableFuture";
            case VALUE ->
                "byte[] there and back by value"
                        + (transport.mirrors() ? ", each word another one than in the call before" : "") + common;
            case POINTER ->
                "a graph of " + Figures.bytes(bytes) + " (a tree of nodes with texts and lists of " + Graph.FAN_OUT
                        + " children) by pointer; the caller writes into its root before each call, the"
                        + " handler reads it there" + common;
            case CONNECTION ->
                "a channel opened, one number there and back, and the channel closed" + transport.words();
        };
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        RpcServer.Builder builder = RpcServer.builder()
                .service(BenchCalls.class, new BenchCalls.Handlers())
                .waiting(WaitStrategy.adaptive())
                .runtimeFolder(directory.resolve("rackcall"));
        return transport.start(builder, directory)::close;
    }

    @Override
    public ClientSide connect(Path directory) throws IOException {
        RpcChannel.Builder builder = transport.channel(directory).waiting(WaitStrategy.adaptive());
        if (argument == Argument.CONNECTION) {
            builder.arenaQuota(CONNECTION_QUOTA).slots(CONNECTION_SLOTS);
            return ClientSide.of(
                    sequence -> {
                        try (RpcChannel channel = builder.open()) {
                            check(sequence, channel.stub(BenchCalls.class).noop(sequence));
                        }
                    },
                    () -> {});
        }
        RpcChannel channel = builder.open();
        BenchCalls calls = channel.stub(BenchCalls.class);
        return switch (argument) {
            case NUMBER, CONNECTION -> new NumberClient(name, channel, calls);
            case VALUE -> {
                List<byte[]> payloads = payloads();
                yield ClientSide.of(
                        sequence -> {
                            byte[] payload = payloads.get((int) (sequence % payloads.size()));
                            Payload.mark(payload, sequence);
                            Payload.check(name, calls.echo(payload), payload.length, sequence);
                        },
                        channel::close);
            }
            case POINTER -> {
                Graph graph = Graph.build(channel, bytes);
                yield ClientSide.of(
                        sequence -> {
                            graph.root().sequence(sequence);
                            check(sequence, calls.touch(graph.root()));
                        },
                        () -> {
                            graph.scope().close();
                            channel.close();
                        });
            }
        };
    }

    private void check(long sequence, long reply) {
        WrongReplyException.check(name, sequence, reply);
    }

    /**
     * If only changed memory is sent, the payload changes completely with each call. The number of payloads is odd,
     * because a slot is reused after an even number of calls.
     */
    private List<byte[]> payloads() {
        byte[] payload = Payload.of(bytes);
        return transport.mirrors() ? List.of(payload, Payload.unlike(payload), new byte[bytes]) : List.of(payload);
    }

    record NumberClient(String name, RpcChannel channel, BenchCalls calls) implements ClientSide {
        @Override
        public void call(long sequence) {
            WrongReplyException.check(name, sequence, calls.noop(sequence));
        }

        @Override
        public Pipeline pipeline(int depth) {
            return new FuturePipeline(name, calls, depth);
        }

        @Override
        public void close() {
            channel.close();
        }
    }

    /** Calls through the asynchronous stub method; replies are taken in the order of the calls. */
    private static final class FuturePipeline implements Pipeline {
        private final String name;
        private final BenchCalls calls;
        private final CompletableFuture<Long>[] futures;
        private final long[] sequences;
        private int head;
        private int inFlight;

        FuturePipeline(String name, BenchCalls calls, int depth) {
            this.name = name;
            this.calls = calls;
            @SuppressWarnings({"unchecked", "rawtypes"}) // Java has no generic arrays
            CompletableFuture<Long>[] ring = new CompletableFuture[depth];
            this.futures = ring;
            this.sequences = new long[depth];
        }

        @Override
        public boolean offer(long sequence) {
            if (inFlight == futures.length) {
                return false;
            }
            int tail = (head + inFlight) % futures.length;
            sequences[tail] = sequence;
            futures[tail] = calls.noopLater(sequence);
            inFlight++;
            return true;
        }

        @Override
        public int poll(LongConsumer done) throws ExecutionException, InterruptedException {
            if (inFlight == 0) {
                return 0;
            }
            // Waiting for the oldest makes this thread poll for all; the call's own timeout bounds it.
            int taken = 0;
            do {
                long reply = futures[head].get();
                WrongReplyException.check(name, sequences[head], reply);
                done.accept(reply);
                head = (head + 1) % futures.length;
                inFlight--;
                taken++;
            } while (inFlight > 0 && futures[head].isDone());
            return taken;
        }
    }
}
