package dev.rackcall.rpc.shm.client;

import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeEnd;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the open scopes of one connection, for a server that drains. A scope that is never closed counts. Thread-safe. */
final class OpenScopes implements ScopeEnd {
    private final AtomicInteger count = new AtomicInteger();

    /** Counts a new scope until it ends. */
    Scope counted(Scope scope) {
        scope.onEnd(this);
        count.incrementAndGet();
        return scope;
    }

    boolean areAny() {
        return count.get() > 0;
    }

    @Override
    public boolean ends(long firstRun) {
        count.decrementAndGet();
        return true;
    }

    /** It stays open: a drain that looks during a reset must not miss it. */
    @Override
    public boolean resets(long firstRun) {
        return true;
    }

    @Override
    public void begins(long firstRun) {}
}
