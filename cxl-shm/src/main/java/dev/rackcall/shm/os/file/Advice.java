package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.CallState;
import java.lang.foreign.MemorySegment;

/** Hints to the kernel about mapped memory. A kernel ignores hints that it does not know. */
public final class Advice {
    private static final long PAGE_BYTES = 4096;

    private Advice() {}

    /**
     * Asks for transparent huge pages (madvise(2), MADV_HUGEPAGE) in the whole pages of this memory.
     *
     * @return whether the kernel accepted the hint; {@code shmem_enabled} decides whether it follows it
     */
    public static boolean hugePages(MemorySegment memory) {
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("the memory is unmapped");
        }
        long from = (memory.address() + PAGE_BYTES - 1) & -PAGE_BYTES;
        long to = (memory.address() + memory.byteSize()) & -PAGE_BYTES;
        return to > from
                && LibcFiles.madvise(CallState.current().errnoSegment(), from, to - from, LibcFiles.MADV_HUGEPAGE) == 0;
    }
}
