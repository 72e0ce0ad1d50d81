package dev.rackcall.shm.waiting;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts how the threads of this process have waited for calls since it started. Counting takes some nanoseconds; a wait
 * that ends within the first polls, well under a microsecond, is not counted. Neither are waits that failed, and
 * those for futures, for items of streams and for gRPC calls. Thread-safe.
 */
public final class WaitCounts {
    /** Kinds of waits, and of decisions in them. Decisions are counted for all waits. */
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
        /** A thread slept rather than spin, as enough threads of the process spun already. */
        LIMITED,
        /** A server's polling thread slept until a request or another event came, or for a while. */
        REQUEST_SLEPT,
        /**
         * A caller, a polling thread, a worker or the client's reactor slept until its sleep had lasted to its bound, though
         * what it waited for had happened, and no wake-up came in 20 ms more. The bound of a sleep is to save no call: this is
         * 0 unless the thread that wakes had no processor for so long, a peer breaks the protocol, or Rackcall has a fault.
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
