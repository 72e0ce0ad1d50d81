package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.Linkage;
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

    private static final MethodHandle MMAP = Linkage.libc("mmap");
    private static final MethodHandle MUNMAP = Linkage.libc("munmap");
    private static final MethodHandle MADVISE = Linkage.libc("madvise");

    private LibcMemory() {}

    static long mmap(MemorySegment errno, long address, long length, int protection, int flags, int fd, long offset) {
        return Linkage.call(MMAP, errno, address, length, protection, flags, fd, offset);
    }

    static int munmap(MemorySegment errno, long address, long length) {
        return (int) Linkage.call(MUNMAP, errno, address, length);
    }

    static int madvise(MemorySegment errno, long address, long length, int advice) {
        return (int) Linkage.call(MADVISE, errno, address, length, advice);
    }
}
