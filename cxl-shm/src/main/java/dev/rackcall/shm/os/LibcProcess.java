package dev.rackcall.shm.os;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** C mirror: the process and its threads. */
final class LibcProcess {
    static final int FUTEX_WAIT = 0;
    static final int FUTEX_WAKE = 1;
    static final int RUSAGE_THREAD = 1;

    private static final MethodHandle GETRUSAGE = Linkage.libc("getrusage");
    private static final MethodHandle GETEUID = Linkage.libc("geteuid");
    private static final MethodHandle SCHED_SETAFFINITY = Linkage.libc("sched_setaffinity");
    private static final MethodHandle SCHED_GETAFFINITY = Linkage.libc("sched_getaffinity");

    private LibcProcess() {}

    /** futex(2): the word is an address, so that a sleeping thread does not keep its mapping from being closed. */
    static int futex(MemorySegment errno, long word, int operation, int value, MemorySegment timespec) {
        return (int)
                Linkage.syscall(errno, Abi.current().futex(), word, operation, value, Linkage.address(timespec), 0);
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
