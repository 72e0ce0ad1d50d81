package dev.rackcall.perf;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.LongConsumer;

/** Calls through the asynchronous stub method; replies are taken in the order of the calls. */
final class RackcallPipeline implements Pipeline {
    private final String name;
    private final BenchCalls calls;
    private final CompletableFuture<Long>[] futures;
    private final long[] sequences;
    private int head;
    private int inFlight;

    RackcallPipeline(String name, BenchCalls calls, int depth) {
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
        // Waiting for the oldest makes this thread poll for all; the call's own time-out bounds it.
        int taken = 0;
        do {
            long reply = futures[head].get();
            if (reply != sequences[head]) {
                throw new WrongReplyException(name, sequences[head], reply);
            }
            done.accept(reply);
            head = (head + 1) % futures.length;
            inFlight--;
            taken++;
        } while (inFlight > 0 && futures[head].isDone());
        return taken;
    }
}
