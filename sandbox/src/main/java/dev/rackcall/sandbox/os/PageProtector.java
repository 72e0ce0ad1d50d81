package dev.rackcall.sandbox.os;

/** Closes whole pages of one mapping to stores, and opens them again. Thread-safe; allocates nothing. */
public interface PageProtector extends AutoCloseable {
    /**
     * Closes pages: after the return, no store of this process changes them.
     *
     * @param address first byte, on a page border
     * @param bytes whole pages
     * @throws dev.rackcall.shm.os.OsException if the kernel refuses; some of the pages may then be closed
     */
    void protect(long address, long bytes);

    /** Opens pages again; has no effect on open pages. */
    void unprotect(long address, long bytes);

    /** Opens all pages for good. Idempotent. */
    @Override
    void close();
}
