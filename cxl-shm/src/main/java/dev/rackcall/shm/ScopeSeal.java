package dev.rackcall.shm;

/** What has a scope sealed; see {@link Scope#seal}. Its {@code toString} names the call, for messages. Thread-safe. */
public interface ScopeSeal {
    /**
     * Asked before a use of the scope is refused: unseals it if nobody needs the seal any more.
     *
     * @return whether it did
     */
    boolean releaseIfDone();
}
