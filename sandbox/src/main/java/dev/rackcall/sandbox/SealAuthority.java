package dev.rackcall.sandbox;

/** Who closes and opens pages and writes the descriptors: this process's own {@link SealTable}, or another process, through {@link RemoteSeals}. */
interface SealAuthority {
    int capacity();

    /**
     * Closes runs and describes them.
     *
     * @param refs first byte of each run
     * @param bytes what to close of each, rounded up to whole pages
     * @throws SealException if a run does not lie in the arena on page borders, a page of it is sealed, there are too few free descriptors, or the
     *     kernel refuses; nothing is sealed then
     */
    long seal(long[] refs, long[] bytes, int count);

    /**
     * A new seal for what a held one has closed, whose receiver is done: the pages stay closed all the while, and the old seal is none from now on.
     *
     * @return the new seal; 0 if this authority cannot do so, and the old one is as before
     */
    long renew(long seal);

    /** Whether this is a seal in force. */
    boolean isHeld(long seal);

    /** Whether the receiver has said so; false for what is no seal. */
    boolean isDone(long seal);

    /** Sealed pages of a seal that is held. */
    long pagesOf(long seal);

    /**
     * Opens the pages of held seals, with few system calls where they lie close together.
     *
     * @return number of system calls
     */
    int release(long[] seals, int count, int endState);

    /** Bytes of a page that {@link #openPage} opens alone; 0 if scopes are opened as a whole only. */
    default long pageBytes() {
        return 0;
    }

    /** Opens one page of a held seal whose receiver is done, the others staying closed. Before {@link #renew} it has to be closed again. */
    default void openPage(long page) {
        throw new UnsupportedOperationException("scopes are opened as a whole here");
    }

    /** Ends that. */
    default void closePage(long page) {
        throw new UnsupportedOperationException("scopes are opened as a whole here");
    }

    /** Whether whoever held the seals is gone, and all pages are open with that. */
    default boolean hasEnded() {
        return false;
    }

    /** Whether the seal that begins at this index closes the page at an offset. */
    boolean holds(int index, long offset);

    /** Opens all pages for good, if it is for this process to do so. */
    void close();
}
