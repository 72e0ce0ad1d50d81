package dev.rackcall.shm;

/** Hears of a scope's end before its memory can be used for something else: others may read it without asking the arena. See {@link Scope#onEnd}. */
public interface ScopeEnd {
    /**
     * The scope was closed, or is about to be reset; on the thread that does so. May take its time. Must not throw.
     *
     * @param firstRun as {@link Scope#firstRun} was until now
     * @return whether its memory may be used anew. Otherwise it stays taken as long as the arena
     */
    boolean ends(long firstRun);

    /** The scope was reset, and is used anew under another Ref. */
    void begins(long firstRun);
}
