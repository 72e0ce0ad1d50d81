package dev.rackcall.sandbox;

/** Closes and opens pages and writes the descriptors: this process's {@link SealTable}, or another process behind
 * {@link RemoteSeals}. */
interface SealAuthority {
    int capacity();

    /**
     * Closes runs and describes them.
     *
     * @param refs first byte of each run
     * @param bytes bytes to close of each run, rounded up to whole pages
     * @throws SealException if a run does not lie in the arena on page borders, one of its pages is sealed, there are
     * too few free descriptors, or the kernel refuses; then nothing is sealed
     */
    long seal(long[] refs, long[] bytes, int count);

    /**
     * Replaces a held seal whose receiver is done by a new one. The pages stay closed, and the old seal ends.
     *
     * @return the new seal
     */
    long renew(long seal);

    /** Whether this seal is in force. */
    boolean isHeld(long seal);

    /** Whether the receiver has marked the seal done; false if it is not in force. */
    boolean isDone(long seal);

    /** Number of pages that a held seal closes. */
    long pagesOf(long seal);

    /**
     * Opens the pages of held seals, with one system call for each group of neighbours.
     *
     * @return number of system calls
     */
    int release(long[] seals, int count, int endState);

    /** Size of the page that {@link #openPage} opens; 0 if only whole scopes can be opened. */
    default long pageBytes() {
        return 0;
    }

    /** Opens one page of a held seal whose receiver is done. Close it again before {@link #renew}. */
    default void openPage(long page) {
        throw new UnsupportedOperationException("scopes are opened as a whole here");
    }

    /** Closes a page that {@link #openPage} has opened. */
    default void closePage(long page) {
        throw new UnsupportedOperationException("scopes are opened as a whole here");
    }

    /** Whether the process that held the seals has ended, so that all pages are open. */
    default boolean hasEnded() {
        return false;
    }

    /** Whether the seal that begins at this index closes the page at an offset. */
    boolean holds(int index, long offset);

    /** Opens all pages permanently, unless another process holds the seals. */
    void close();
}
