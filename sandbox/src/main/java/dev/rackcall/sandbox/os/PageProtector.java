package dev.rackcall.sandbox.os;

/** Closes whole pages of one mapping to stores, and opens them again. Thread-safe; allocates nothing. */
public interface PageProtector extends AutoCloseable {
    /**
     * From the return on, no store of this process changes these pages.
     *
     * @param address first byte, on a page border
     * @param bytes whole pages
     * @throws dev.rackcall.shm.os.OsException if the kernel refuses; some of the pages may be closed then
     */
    void protect(long address, long bytes);

    /** Opens the pages again; harmless for pages that are open. */
    void unprotect(long address, long bytes);

    /** Opens all pages for good. Idempotent. */
    @Override
    void close();
}
