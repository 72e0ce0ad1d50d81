package dev.rackcall.shm;

/**
 * Learns of a scope's end before its memory is reused, for readers that do not ask the arena. See {@link Scope#onEnd}.
 */
public interface ScopeEnd {
    /**
     * The scope was closed or is about to be reset. Called by the thread that does so; may block. Must not throw.
     *
     * @param firstRun what {@link Scope#firstRun} returned until now
     * @return whether the memory may be reused; if not, it stays allocated as long as the arena exists
     */
    boolean ends(long firstRun);

    /** The scope was reset and is in use again under another Ref. */
    void begins(long firstRun);
}
