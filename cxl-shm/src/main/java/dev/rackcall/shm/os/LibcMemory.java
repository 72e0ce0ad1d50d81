package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * C mirror: memory. Addresses are plain numbers here: a segment argument would hold its lifetime open during the call, and a sleeper
 * could then keep a mapping from being closed.
 */
final class LibcMemory {
    static final int PROT_READ = 1;
    static final int PROT_WRITE = 2;
    static final int MAP_SHARED = 1;
    static final int MAP_NORESERVE = 0x4000;
    static final long MAP_FAILED = -1L;
    static final int MADV_HUGEPAGE = 14;

    private static final MethodHandle MMAP =
            Linkage.libc("mmap", JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG);
    private static final MethodHandle MUNMAP = Linkage.libc("munmap", JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle MADVISE = Linkage.libc("madvise", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);

    private LibcMemory() {}

    static long mmap(MemorySegment errno, long address, long length, int protection, int flags, int fd, long offset) {
        try {
            return (long) MMAP.invokeExact(errno, address, length, protection, flags, fd, offset);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int munmap(MemorySegment errno, long address, long length) {
        try {
            return (int) MUNMAP.invokeExact(errno, address, length);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    static int madvise(MemorySegment errno, long address, long length, int advice) {
        try {
            return (int) MADVISE.invokeExact(errno, address, length, advice);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
