package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** How often threads have met pages that the kernel had to do something about first (getrusage(2)). */
public final class PageFaults {
    static final long RUSAGE_BYTES = 144;
    private static final long MINFLT = 64;

    private PageFaults() {}

    /**
     * Page faults of the calling thread since it began that took no device, as the first store to a page that was write-protected. Of a virtual thread: those of
     * its carrier. Takes a system call and allocates nothing.
     */
    public static long ofThisThread() {
        CallState state = CallState.current();
        MemorySegment usage = state.scratch();
        if (LibcProcess.getrusage(state.errnoSegment(), LibcProcess.RUSAGE_THREAD, usage) != 0) {
            throw state.failure("asking for this thread's page faults");
        }
        return usage.get(JAVA_LONG, MINFLT);
    }
}
