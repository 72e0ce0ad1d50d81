package dev.rackcall.sandbox.os;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;

/**
 * Protects pages with mprotect(2). Works for every kind of memory, including device-dax, at three times the cost of
 * {@link Userfault}.
 *
 * <p>A store to a protected page raises SIGSEGV, which ends the JVM unless the {@link Guard} handles it. To the kernel,
 * each protected piece is a separate mapping; a process has at most {@code vm.max_map_count} of them.
 */
public final class PageProtection implements PageProtector {
    private final long start;
    private final long size;
    private boolean closed;

    private PageProtection(long start, long size) {
        this.start = start;
        this.size = size;
    }

    /** For the pages of one mapping, which must stay mapped until {@link #close}. */
    public static PageProtection of(long address, long bytes) {
        return new PageProtection(address, bytes);
    }

    @Override
    public void protect(long address, long bytes) {
        change(address, bytes, LibcPages.PROT_READ);
    }

    @Override
    public void unprotect(long address, long bytes) {
        change(address, bytes, LibcPages.PROT_READ | LibcPages.PROT_WRITE);
    }

    private synchronized void change(long address, long bytes, int protection) {
        // Memory outside may belong to the JVM.
        if (bytes <= 0 || address < start || address - start > size - bytes) {
            throw new IllegalArgumentException(Userfault.range(address, bytes) + " does not lie in the mapping of "
                    + Userfault.range(start, size));
        }
        if (closed) {
            throw new IllegalStateException("the protection of " + Userfault.range(start, size) + " is closed");
        }
        set(address, bytes, protection);
    }

    private static void set(long address, long bytes, int protection) {
        CallState state = CallState.current();
        if (LibcPages.mprotect(state.errnoSegment(), address, bytes, protection) != 0) {
            throw new OsException(
                    "mprotect of " + Userfault.range(address, bytes),
                    state.errno(),
                    state.errno() == Errno.ENOMEM
                            ? "the process has too many separate mappings: raise vm.max_map_count or release seals"
                            : "see `rackcall doctor`");
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            set(start, size, LibcPages.PROT_READ | LibcPages.PROT_WRITE);
        }
    }

    @Override
    public String toString() {
        return "mprotect";
    }
}
