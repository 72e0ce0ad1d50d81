package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** C mirror: the process and its threads. */
final class LibcProcess {
    private static final MethodHandle GETEUID = Linkage.libc("geteuid", JAVA_INT);
    private static final MethodHandle SCHED_SETAFFINITY =
            Linkage.libc("sched_setaffinity", JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS);
    private static final MethodHandle SCHED_GETAFFINITY =
            Linkage.libc("sched_getaffinity", JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS);
    private static final MethodHandle SYSCALL =
            Linkage.variadic("syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private LibcProcess() {}

    /** For system calls that libc has no function for; -1 means that errno was set. */
    static long syscall(MemorySegment errno, long number, long first, long second, long third) {
        try {
            return (long) SYSCALL.invokeExact(errno, number, first, second, third);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int geteuid(MemorySegment errno) {
        try {
            return (int) GETEUID.invokeExact(errno);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int schedSetaffinity(MemorySegment errno, int thread, long bytes, MemorySegment mask) {
        try {
            return (int) SCHED_SETAFFINITY.invokeExact(errno, thread, bytes, mask);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int schedGetaffinity(MemorySegment errno, int thread, long bytes, MemorySegment mask) {
        try {
            return (int) SCHED_GETAFFINITY.invokeExact(errno, thread, bytes, mask);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
