package dev.rackcall.perf.harness;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Java heap that threads of this process have allocated, in bytes. */
public final class HeapAllocation {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final Set<Long> IGNORED = ConcurrentHashMap.newKeySet();

    private HeapAllocation() {}

    /** Bytes allocated by the calling thread since it started. */
    static long ofCurrentThread() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }

    /** Leaves a thread of the benchmark itself out of {@link #ofOtherThreads}. */
    static void ignore(Thread thread) {
        IGNORED.add(thread.threadId());
    }

    /**
     * Bytes allocated by all live threads since they started, except the calling and the ignored ones: in a server
     * process, by the serving threads.
     */
    public static long ofOtherThreads() {
        long own = Thread.currentThread().threadId();
        long[] others = Arrays.stream(THREADS.getAllThreadIds())
                .filter(id -> id != own && !IGNORED.contains(id))
                .toArray();
        return Arrays.stream(THREADS.getThreadAllocatedBytes(others))
                .filter(bytes -> bytes > 0)
                .sum();
    }
}
