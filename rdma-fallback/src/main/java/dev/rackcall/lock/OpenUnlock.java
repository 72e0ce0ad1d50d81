package dev.rackcall.lock;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * An unlock by RDMA that was sent and not awaited; a session has at most one. The session's thread handles the answer
 * with its next call, or else the {@link LockFinisher}. They take turns: the thread uses the session's queue pair and
 * descriptors while the state is OWN, the finisher while it is FINISHING, and neither while it is OPEN.
 */
final class OpenUnlock {
    /** No unlock is open, or the session's thread handles it. */
    private static final int OWN = 0;
    /** Sent; the first thread that takes it handles the answer. */
    private static final int OPEN = 1;

    /** The finisher handles it, or the session's thread in a call of another session. */
    private static final int FINISHING = 2;

    private static final long PATIENCE_NANOS = 30_000_000_000L;

    private final LockSession session;
    private final LaterWords words;
    private final LockWait waiting;
    private final LockFinisher finisher;
    private final CohortQueue finishing;
    /**
     * Publishes all other fields: each change is a volatile store or a compare-and-set, and pairs with the other side's
     * compare-and-set or load.
     */
    private final AtomicInteger state = new AtomicInteger(OWN);

    /** The descriptor that leaves its queue; null if no unlock is open. */
    private LockDescriptor leaving;

    private long line;
    private int grant;
    private long since;
    /** How many more unlocks to await. */
    private int waitedFor;

    /** Null until it is known. */
    private volatile Thread user;

    private volatile boolean over;

    /** @param waiting of the session's thread */
    OpenUnlock(LockSession session, LaterWords words, LockWait waiting, LockFinisher finisher, CohortQueue finishing) {
        this.session = session;
        this.words = words;
        this.waiting = waiting;
        this.finisher = finisher;
        this.finishing = finishing;
    }

    /**
     * Begins to hand the lock over. Called by the session's thread, which calls {@link #resume} before its next step.
     *
     * @return false if the unlock must be awaited: the queue was crowded lately, no descriptor is left for the next
     *     lock, the finisher has ended, or it has dropped this session after its thread had ended
     */
    boolean begin(long line, LockDescriptor descriptor, int grant) {
        if (over || finisher.isClosed() || !session.hasSpare()) {
            return false;
        }
        if (waitedFor > 0) {
            waitedFor--;
            return false;
        }
        if (!session.queue().leaveLater(words, line, descriptor.own)) {
            waitedFor = finisher.waitedFor();
            return false;
        }
        this.line = line;
        this.grant = grant;
        leaving = descriptor;
        leaving.leaves = true;
        since = System.nanoTime();
        // Set before checking whether the finisher has ended or has dropped this session: the finisher records that,
        // and then checks this state again.
        state.set(OPEN);
        if (over || finisher.isClosed()) {
            resume();
            settle();
        } else {
            finisher.wake();
        }
        return true;
    }

    /**
     * Takes the session over from the finisher. Called by the session's thread before it uses anything of the session.
     */
    void resume() {
        if (state.get() == OWN) {
            return;
        }
        waiting.start();
        while (!state.compareAndSet(OPEN, OWN) && state.get() != OWN) {
            waiting.pause();
        }
        waiting.end();
    }

    /**
     * Handles the answer, and waits for it if necessary. Called by the session's thread. It may wait for the successor
     * to link itself, so it must not run between a tail's compare-and-set and the link: threads that link themselves
     * wait for no other thread, so there is no deadlock.
     */
    void settle() {
        if (leaving == null || session.isLost()) {
            return;
        }
        try {
            settle(session.queue());
        } catch (RuntimeException | Error e) {
            // The hand-over is half done and cannot be repeated.
            session.lose(e);
            throw e;
        } finally {
            // Restores an interrupt that came in the meantime.
            waiting.end();
        }
    }

    /** The same, and for other sessions of this thread, whose answers have usually arrived by now. */
    void settleAll() {
        settle();
        finisher.finishOwn();
    }

    private void settle(CohortQueue queue) {
        LockDescriptor descriptor = leaving;
        // Cleared even after a failure: a second hand-over would take the lock from its new holder.
        leaving = null;
        long found = words.answer();
        if (found != descriptor.own) {
            waitedFor = finisher.waitedFor();
        }
        boolean released = queue.endLeaving(line, descriptor, grant, found);
        descriptor.leaves = false;
        session.released(descriptor, released);
    }

    /** Records the session's thread at its first call. */
    void belongToThisThread() {
        user = Thread.currentThread();
        finisher.addOwn(this);
    }

    /** The session has ended: the finisher drops it. */
    void forget() {
        over = true;
        finisher.remove(this);
    }

    /** Whether no unlock will be open any more. */
    boolean isOver() {
        return over;
    }

    /** Whether its thread has ended without closing the session. */
    private boolean isAbandoned() {
        Thread last = user;
        return last != null && !last.isAlive() && !isOpen();
    }

    /**
     * Whether an unlock waits to be handled, or a thread is just handling it. If the answer has not arrived, that
     * thread leaves the unlock open without waking the finisher.
     */
    boolean isOpen() {
        return state.get() != OWN;
    }

    /** Handles the answer if it has arrived. Called by the finisher. Returns whether an unlock was open. */
    boolean finish() {
        try {
            if (isAbandoned()) {
                // Set before checking whether a thread that closes the session has opened an unlock in the meantime.
                // Partner: begin.
                over = true;
                if (isOpen()) {
                    over = false;
                } else {
                    finisher.remove(this);
                }
            }
            return finish(finishing);
        } catch (Error e) {
            // The session is lost and reports it. Other sessions need this thread.
            return true;
        }
    }

    /** The same by the session's thread, in a call of another session. */
    void finishFromAnother() {
        try {
            finish(session.queue());
        } finally {
            // Restores an interrupt that came in the meantime.
            waiting.end();
        }
    }

    private boolean finish(CohortQueue queue) {
        if (!isOpen()) {
            return false;
        }
        if (!state.compareAndSet(OPEN, FINISHING)) {
            return isOpen();
        }
        int after = OWN;
        try {
            if (words.isAnswered()) {
                settle(queue);
            } else if (System.nanoTime() - since < PATIENCE_NANOS) {
                after = OPEN;
            } else {
                throw new LockConnectionException(
                        "the lock table's device has not answered an unlock for 30 s; close the session and open another");
            }
        } catch (LockConnectionException e) {
            session.loseUntold(e);
        } catch (RuntimeException e) {
            session.loseUntold(new LockConnectionException("an unlock could not be finished: " + e.getMessage(), e));
        } catch (Error e) {
            session.loseUntold(new LockConnectionException("an unlock could not be finished: " + e, e));
            throw e;
        } finally {
            state.set(after);
        }
        return true;
    }
}
