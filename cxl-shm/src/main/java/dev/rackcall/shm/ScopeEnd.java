package dev.rackcall.shm;

/**
 * Notified before a scope's memory is reused, on behalf of readers on other hosts, which hold copies and cannot check
 * the arena. See {@link Scope#onEnd}.
 */
public interface ScopeEnd {
    /**
     * Called when the scope was closed, by the thread that does so, and when a reset has failed and thereby ended it. May
     * block; must not throw.
     *
     * @param firstRun the result of {@link Scope#firstRun} until now
     * @return whether the memory may be reused; if not, it stays allocated as long as the arena exists
     */
    boolean ends(long firstRun);

    /**
     * As {@link #ends}, when the scope is about to be reset. {@link #begins} follows, or {@link #ends} if the reset fails
     * or is refused here.
     */
    default boolean resets(long firstRun) {
        return ends(firstRun);
    }

    /** Called after a reset: the scope is in use again under the new Ref {@code firstRun}. */
    void begins(long firstRun);
}
