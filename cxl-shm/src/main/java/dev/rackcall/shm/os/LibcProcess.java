package dev.rackcall.shm.os;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** C mirror: the process and its threads. */
final class LibcProcess {
    static final int RUSAGE_THREAD = 1;

    private static final MethodHandle GETRUSAGE = Linkage.libc("getrusage");
    private static final MethodHandle GETEUID = Linkage.libc("geteuid");
    private static final MethodHandle SCHED_SETAFFINITY = Linkage.libc("sched_setaffinity");
    private static final MethodHandle SCHED_GETAFFINITY = Linkage.libc("sched_getaffinity");
    private static final MethodHandle SYSCALL = Linkage.libc("syscall");

    private LibcProcess() {}

    /** For system calls that libc has no function for; -1 means that errno was set. */
    static long syscall(MemorySegment errno, long number, long first, long second, long third) {
        return Linkage.call(SYSCALL, errno, number, first, second, third);
    }

    static int geteuid(MemorySegment errno) {
        return (int) Linkage.call(GETEUID, errno);
    }

    static int getrusage(MemorySegment errno, int who, MemorySegment usage) {
        return (int) Linkage.call(GETRUSAGE, errno, who, Linkage.address(usage));
    }

    static int schedSetaffinity(MemorySegment errno, int thread, long bytes, MemorySegment mask) {
        return (int) Linkage.call(SCHED_SETAFFINITY, errno, thread, bytes, Linkage.address(mask));
    }

    static int schedGetaffinity(MemorySegment errno, int thread, long bytes, MemorySegment mask) {
        return (int) Linkage.call(SCHED_GETAFFINITY, errno, thread, bytes, Linkage.address(mask));
    }
}
