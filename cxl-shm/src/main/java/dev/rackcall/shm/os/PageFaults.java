package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/** Counts page faults of threads (getrusage(2)). */
public final class PageFaults {
    static final long RUSAGE_BYTES = 144;
    private static final long MINFLT = 64;

    private PageFaults() {}

    /**
     * Minor page faults of the calling thread so far, for example first stores to write-protected pages. For a virtual
     * thread, those of its carrier. Makes a system call and allocates nothing.
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
