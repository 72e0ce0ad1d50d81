package dev.rackcall.shm;

/**
 * The seal of a call on a scope; see {@link Scope#seal}. Its {@code toString} names the call in messages. Thread-safe.
 */
public interface ScopeSeal {
    /**
     * Called before a use of the scope is refused: unseals the scope if its call has ended.
     *
     * @return whether the scope was unsealed
     */
    boolean releaseIfDone();

    /**
     * Called before a store to an object is refused. If the call has ended, makes the object's pages writable or
     * unseals the whole scope.
     *
     * @param ref of the object
     * @param bytes the object's length
     * @return whether the store may proceed now
     */
    default boolean openForStore(long ref, long bytes) {
        return releaseIfDone();
    }
}
