package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** C mirror: protection of pages. Addresses are plain numbers, as a segment would hold its mapping's lifetime open during the call. */
final class LibcProtection {
    static final int PROT_READ = 1;
    static final int PROT_WRITE = 2;

    private static final MethodHandle MPROTECT = Linkage.libc("mprotect", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);

    private static final MethodHandle MADVISE = Linkage.libc("madvise", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);
    private static final MethodHandle PRCTL =
            Linkage.variadic("prctl", 1, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle SYSCALL3 =
            Linkage.variadic("syscall", 1, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private LibcProtection() {}

    static int madvise(MemorySegment errno, long address, long bytes, int advice) {
        try {
            return (int) MADVISE.invokeExact(errno, address, bytes, advice);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int prctl(MemorySegment errno, int option, long argument) {
        try {
            return (int) PRCTL.invokeExact(errno, option, argument, 0L, 0L, 0L);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    /** A system call of three arguments that has no function of its own. */
    static int syscall3(MemorySegment errno, long number, long first, long second, long third) {
        try {
            return (int) (long) SYSCALL3.invokeExact(errno, number, first, second, third);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int mprotect(MemorySegment errno, long address, long bytes, int protection) {
        try {
            return (int) MPROTECT.invokeExact(errno, address, bytes, protection);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
