package dev.rackcall.cp.client;

import dev.rackcall.cp.session.SessionLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A queue or port of the host's agent process: its place in the session's memory, where the agent writes completions.
 */
abstract class ForeignPlace implements AutoCloseable {
    protected final TenantSession session;
    protected final SessionLayout layout;
    protected final MemorySegment memory;
    protected final int place;
    /** Where the place lies in memory. */
    protected final long at;

    private final long base;
    private final AtomicBoolean closed = new AtomicBoolean();
    /** Completions taken so far; written by the thread that takes them. */
    private volatile long taken;

    protected ForeignPlace(TenantSession session, int place) {
        this.session = session;
        this.place = place;
        layout = session.memory.layout();
        memory = session.memory.segment();
        at = layout.place(place);
        base = memory.get(ValueLayout.JAVA_LONG, at + SessionLayout.BASE);
    }

    protected final boolean isClosed() {
        return closed.get();
    }

    /** Why it no longer works; empty if it works. Called while it is not closed. */
    protected final Optional<String> problem() {
        if (session.isDead()) {
            return Optional.of(session.life.endMessage());
        }
        return hasFailed() ? Optional.of(session.memory.text(at)) : Optional.empty();
    }

    protected final boolean hasFailed() {
        // Partner: SessionPlace.fail.
        return (int) SessionLayout.INT.getAcquire(memory, at + SessionLayout.FAILED) != 0;
    }

    /** Completions taken so far. */
    protected final long taken() {
        return taken;
    }

    /** Completions that the agent has written so far. */
    protected final long produced() {
        return (long) SessionLayout.LONG.getAcquire(memory, at + SessionLayout.PRODUCED) - base;
    }

    /** Where the completion of this number lies; -1 if the agent has not written it yet. */
    protected final long completion(long number) {
        long entry = layout.completion(at, base + number);
        // Partner: SessionPlace.publish.
        return (long) SessionLayout.LONG.getAcquire(memory, entry) == base + number + 1 ? entry : -1;
    }

    /** Records that all completions up to this number were taken. */
    protected final void tookUpTo(long number) {
        taken = number;
    }

    /** Closes it, at the agent too, without waiting. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            closing();
            session.places.close(place);
            session.memory.left(this);
        }
    }

    /** Runs once, before the agent is notified. */
    protected void closing() {}
}
