package dev.rackcall.perf;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Java heap that threads allocated.
 *
 * @param bytes so many bytes
 * @param calls during so many calls; 0 if that is not known here
 */
record Allocation(long bytes, long calls) {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final Set<Long> IGNORED = ConcurrentHashMap.newKeySet();

    /** What the calling thread allocated since it started. */
    static long ofCurrentThread() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }

    /** Leaves a thread of the benchmark itself out of {@link #ofOtherThreads}. */
    static void ignore(Thread thread) {
        IGNORED.add(thread.threadId());
    }

    /**
     * What all live threads allocated since they started, without the calling one and the ignored ones: in a server process, what those that
     * serve allocated.
     */
    static long ofOtherThreads() {
        long own = Thread.currentThread().threadId();
        long[] others = Arrays.stream(THREADS.getAllThreadIds())
                .filter(id -> id != own && !IGNORED.contains(id))
                .toArray();
        return Arrays.stream(THREADS.getThreadAllocatedBytes(others))
                .filter(bytes -> bytes > 0)
                .sum();
    }
}
