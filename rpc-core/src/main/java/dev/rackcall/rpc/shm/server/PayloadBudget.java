package dev.rackcall.rpc.shm.server;

import dev.rackcall.sandbox.SnapshotBudget;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits what a connection's calls in flight may take out of its request arena: payloads outside the slots, and
 * snapshots. Those of an honest client do not overlap. A hostile client could make every call decode the whole arena
 * into this process's heap. Thread-safe.
 */
final class PayloadBudget implements SnapshotBudget {
    private final long most;
    private final AtomicLong taken = new AtomicLong();

    /** @param most bytes of the arena */
    PayloadBudget(long most) {
        this.most = most;
    }

    @Override
    public boolean take(long bytes) {
        if (taken.addAndGet(bytes) <= most) {
            return true;
        }
        taken.addAndGet(-bytes);
        return false;
    }

    @Override
    public void give(long bytes) {
        taken.addAndGet(-bytes);
    }
}
