package dev.rackcall.perf.calls;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.WrongReplyException;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Result;
import dev.rackcall.rpc.RpcChannel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;
import java.util.stream.Stream;

/**
 * As many calls from fresh threads of one process, over one connection with 64 slots, by more virtual threads than it
 * has slots, and by a few platform threads. One timed call is all of them, from the start of the first thread to the
 * end of the last.
 *
 * @param threads what makes the calls
 */
public record ThreadedCalls(Threads threads) implements Sides {
    /** Of all threads together. */
    static final int CALLS = 1000;

    private static final int SLOTS = 64;

    /** The threads that make the calls. */
    public enum Threads {
        VIRTUAL("virtual", CALLS),
        PLATFORM("platform", 8);

        private final String word;
        private final int count;

        Threads(String word, int count) {
            this.word = word;
            this.count = count;
        }

        private String subject() {
            return "rackcall-" + word + "-" + count;
        }

        private ThreadFactory factory() {
            return this == VIRTUAL
                    ? Thread.ofVirtual().factory()
                    : Thread.ofPlatform().daemon().factory();
        }
    }

    /** The platform threads, and the virtual threads that are compared with them. */
    public static List<Subject> subjects() {
        return Stream.of(Threads.values()).map(ThreadedCalls::subject).toList();
    }

    private static Subject subject(Threads threads) {
        String settings = threads.count + " fresh " + threads.word + " threads with " + CALLS / threads.count
                + " calls each, a number there and back through shared memory, synchronous typed stub, one channel with "
                + SLOTS
                + " slots, handlers on the polling thread, default (adaptive) waiting on both sides; not pinned";
        return Subject.of(
                        threads.subject(), Long.BYTES, settings, new ThreadedCalls(threads), Subject.Trait.TAKES_TURNS)
                .in(BenchTarget.THROUGHPUT, "threads", threads == Threads.PLATFORM ? "" : Threads.PLATFORM.subject())
                .repeating(CALLS);
    }

    /** Adds to these subjects' results how many calls were in flight at most, and the median time of all calls. */
    public static List<Result> withWhole(List<Result> results) {
        return results.stream().map(ThreadedCalls::withWhole).toList();
    }

    private static Result withWhole(Result result) {
        return Stream.of(Threads.values())
                .filter(threads -> threads.subject().equals(result.name()))
                .findFirst()
                .map(threads -> result.with("in_flight", Math.min(threads.count, SLOTS))
                        .with("whole_p50_ns", result.p50Ns() * CALLS))
                .orElse(result);
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        return new RackcallCall(
                        threads.subject(), BenchTransport.SHARED_MEMORY, RackcallCall.Argument.NUMBER, Long.BYTES)
                .serve(directory);
    }

    @Override
    public ClientSide connect(Path directory) throws IOException {
        RpcChannel channel =
                BenchTransport.SHARED_MEMORY.channel(directory).slots(SLOTS).open();
        BenchCalls calls = channel.stub(BenchCalls.class);
        return ClientSide.of(sequence -> callAll(calls, sequence * CALLS), channel::close);
    }

    private void callAll(BenchCalls calls, long firstSequence) throws InterruptedException, ExecutionException {
        ThreadFactory factory = threads.factory();
        int each = CALLS / threads.count;
        List<FutureTask<Void>> started = new ArrayList<>(threads.count);
        for (int i = 0; i < threads.count; i++) {
            long first = firstSequence + (long) i * each;
            FutureTask<Void> work = new FutureTask<>(
                    () -> {
                        for (long sequence = first; sequence < first + each; sequence++) {
                            WrongReplyException.check(threads.subject(), sequence, calls.noop(sequence));
                        }
                    },
                    null);
            started.add(work);
            factory.newThread(work).start();
        }
        for (FutureTask<Void> work : started) {
            work.get();
        }
    }
}
