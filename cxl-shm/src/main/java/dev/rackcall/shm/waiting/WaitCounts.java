package dev.rackcall.shm.waiting;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts how the threads of this process have waited for calls since it started. Counting takes some nanoseconds; a wait
 * that ends within the first polls, well under a microsecond, is not counted. Neither are waits that failed, and
 * those for futures, for items of streams and for gRPC calls. Thread-safe.
 */
public final class WaitCounts {
    /** Kinds of waits, of decisions in them, and of faults. Decisions are counted for all waits. */
    public enum Kind {
        /** A caller polled until its answer came, for longer than the first polls. */
        ANSWER_SPUN,
        /** A caller slept until its answer came. */
        ANSWER_SLEPT,
        /** A caller waited for a free slot: more slots would help, or fewer calls at a time. */
        SLOT,
        /** A caller that spun found the server on its processor, and moved to another one. */
        MOVED_ASIDE,
        /** A thread that spun yielded its processor. */
        YIELDED,
        /** A thread stopped spinning, as another one had taken its processor. */
        PREEMPTED,
        /** A thread slept rather than spin, since as many threads of the process as it has processors spun already. */
        LIMITED,
        /** A server's polling thread slept until a request or another event came, or for a while. */
        REQUEST_SLEPT,
        /**
         * A lost wake-up: a thread slept for its longest time although its answer, request or slot was ready, and nothing woke
         * it within another 20 ms. Stays 0 unless the waking thread had no processor for that long, a peer broke the protocol,
         * or Rackcall has a bug.
         */
        RESCUED;

        private final LongAdder count = new LongAdder();
    }

    private WaitCounts() {}

    /** Counts a wait. */
    public static void add(Kind kind) {
        kind.count.increment();
    }

    /** How many waits of that kind there were. */
    public static long of(Kind kind) {
        return kind.count.sum();
    }
}
