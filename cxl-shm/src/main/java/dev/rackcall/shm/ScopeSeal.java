package dev.rackcall.shm;

/** What has a scope sealed; see {@link Scope#seal}. Its {@code toString} names the call, for messages. Thread-safe. */
public interface ScopeSeal {
    /**
     * Asked before a use of the scope is refused: unseals it if nobody needs the seal any more.
     *
     * @return whether it did
     */
    boolean releaseIfDone();

    /**
     * Asked before a store to an object of the scope is refused: opens the pages that it lies on, or unseals the whole scope, if nobody needs the seal any
     * more.
     *
     * @param ref of the object
     * @param bytes how long it is
     * @return whether it may be stored to now
     */
    default boolean openForStore(long ref, long bytes) {
        return releaseIfDone();
    }
}
