package dev.rackcall.perf.harness;

import dev.rackcall.perf.result.Measurement;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Keeps a number of calls in flight from one thread. Reading the clock for every call would take a large part of the
 * fastest calls' time, so only a sample of the calls is timed, and the loop checks the clock for its end once in
 * {@value #CLOCK_EVERY} rounds.
 */
public final class ThroughputLoop {
    /** At most 64 rounds, each with a wait of at most a millisecond, pass between two readings of the clock. */
    private static final int CLOCK_EVERY = 64;

    private final LongSupplier clock;

    /** A loop with that clock, which counts nanoseconds. */
    public ThroughputLoop(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * Calls for {@code durationNanos}.
     *
     * @param depth calls in flight
     * @param sampleEvery one of this many calls is timed; a power of two
     */
    public Measurement run(Pipeline pipeline, int depth, int sampleEvery, long firstSequence, long durationNanos)
            throws Exception {
        Samples samples = new Samples(depth, sampleEvery);
        long start = clock.getAsLong();
        long now = start;
        long lastProgress = start;
        long seen = 0;
        long sent = 0;
        long done = 0;
        while (now - start < durationNanos) {
            for (int round = 0; round < CLOCK_EVERY; round++) {
                while (sent - done < depth && samples.offer(pipeline, firstSequence + sent)) {
                    sent++;
                }
                done += pipeline.poll(samples);
            }
            now = clock.getAsLong();
            lastProgress = done > seen ? now : lastProgress;
            seen = done;
            requireProgress(now - lastProgress, sent - done);
        }
        samples.recorder.add(done, now - start);
        Measurement measurement = samples.recorder.measurement();
        drain(pipeline, sent - done, samples);
        return measurement;
    }

    /** Takes the replies of calls that are still in flight, so that the next run does not see them. */
    private void drain(Pipeline pipeline, long inFlight, Samples samples) throws Exception {
        long since = clock.getAsLong();
        for (long left = inFlight; left > 0; ) {
            left -= pipeline.poll(samples);
            requireProgress(clock.getAsLong() - since, left);
        }
    }

    private static void requireProgress(long idleNanos, long inFlight) {
        if (idleNanos > ClientSide.CALL_BOUND_NANOS && inFlight > 0) {
            throw new IllegalStateException(inFlight + " calls in flight and no reply for " + idleNanos / 1_000_000_000L
                    + " s: the server side hangs or lost a call");
        }
    }

    /** The times at which the timed calls were sent; replies may come in any order within the depth. */
    private final class Samples implements LongConsumer {
        private final LatencyRecorder recorder = new LatencyRecorder();
        private final long everyMask;
        private final int everyShift;
        private final long[] sentAt;

        Samples(int depth, int every) {
            if (Integer.bitCount(every) != 1) {
                throw new IllegalArgumentException("one call in " + every + " cannot be timed: take a power of two");
            }
            everyMask = every - 1L;
            everyShift = Integer.numberOfTrailingZeros(every);
            // Twice the depth, so that a call that all others overtake still finds its own time.
            sentAt = new long[Integer.highestOneBit(Math.max(1, depth)) * 4];
        }

        boolean offer(Pipeline pipeline, long sequence) throws Exception {
            if ((sequence & everyMask) == 0) {
                sentAt[slot(sequence)] = clock.getAsLong();
            }
            return pipeline.offer(sequence);
        }

        @Override
        public void accept(long sequence) {
            if ((sequence & everyMask) == 0) {
                recorder.record(clock.getAsLong() - sentAt[slot(sequence)]);
            }
        }

        private int slot(long sequence) {
            return (int) (sequence >>> everyShift) & (sentAt.length - 1);
        }
    }
}
