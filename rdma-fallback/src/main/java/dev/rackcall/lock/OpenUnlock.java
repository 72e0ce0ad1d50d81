package dev.rackcall.lock;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * An unlock by RDMA that was sent and that nobody has waited for; a session has one at a time. What follows from its answer is done by the session's thread with whatever that
 * does next, or if it does nothing by the {@link LockFinisher}. The two take turns: all that belongs to the session, its queue pair as well as its descriptors, is used by the
 * thread while the state is OWN, by the finisher while it is FINISHING, and by nobody while it is OPEN.
 */
final class OpenUnlock {
    /** Nothing is open, or the session's thread has come back and sees to it. */
    private static final int OWN = 0;
    /** Sent; whoever comes first sees to it. */
    private static final int OPEN = 1;

    /** The finisher sees to it, or the session's thread from another session. */
    private static final int FINISHING = 2;

    private static final long PATIENCE_NANOS = 30_000_000_000L;

    private final LockSession session;
    private final LaterWords words;
    private final LockWait waiting;
    private final LockFinisher finisher;
    private final CohortQueue finishing;
    /** Who sets it gives all the rest to whoever sees that: each change is a volatile store or a compare-and-set, and pairs with the other side's compare-and-set or load. */
    private final AtomicInteger state = new AtomicInteger(OWN);

    /** That is leaving its queue; null if nothing is open. */
    private Descriptor leaving;

    private long line;
    private int grant;
    private long since;
    /** How many unlocks are still to be waited for. */
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
     * Begins to hand the lock over, by the session's thread, which does nothing more before it has called {@link #resume}.
     *
     * @return false if the unlock is to be waited for: others were about lately, or there is no other descriptor for the next lock, or no finisher any more, or it has forgotten this
     *     session, whose thread had ended
     */
    boolean begin(long line, Descriptor descriptor, int grant) {
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
        // Before the look whether the finisher has ended, or has forgotten this: it says so, and then looks here once
        // more.
        state.set(OPEN);
        if (over || finisher.isClosed()) {
            resume();
            settle();
        } else {
            finisher.wake();
        }
        return true;
    }

    /** By the session's thread, before it uses anything of the session's: from now on the finisher keeps away. */
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
     * By the session's thread: does what follows from the answer, and waits for that if need be. It may wait for whoever comes next to link himself. So it is not to be called between
     * the tail's compare-and-set and that: threads that link themselves wait for nobody, and there is no circle.
     */
    void settle() {
        if (leaving == null || session.isLost()) {
            return;
        }
        try {
            settle(session.queue());
        } catch (RuntimeException | Error e) {
            // Whatever it was: half of it is done, and it cannot be done again.
            session.lose(e);
            throw e;
        } finally {
            // An interrupt that came meanwhile is for whatever the thread does next.
            waiting.end();
        }
    }

    /** The same, and what is open in other sessions of this thread, which has been answered meanwhile as a rule. */
    void settleAll() {
        settle();
        finisher.finishOwn();
    }

    private void settle(CohortQueue queue) {
        Descriptor descriptor = leaving;
        // Once, whatever happens: who hands over again takes the lock from who has got it.
        leaving = null;
        long found = words.answer();
        if (found != descriptor.own) {
            waitedFor = finisher.waitedFor();
        }
        boolean released = queue.endLeaving(line, descriptor, grant, found);
        descriptor.leaves = false;
        session.released(descriptor, released);
    }

    /** By the session's thread, once it is known which that is. */
    void belongToThisThread() {
        user = Thread.currentThread();
        finisher.addOwn(this);
    }

    /** The session has ended: the finisher does not come any more. */
    void forget() {
        over = true;
        finisher.remove(this);
    }

    /** Whether nothing will be open any more. */
    boolean isOver() {
        return over;
    }

    /** Whether its thread has ended without closing it, which nobody else may. */
    private boolean isAbandoned() {
        Thread last = user;
        return last != null && !last.isAlive() && !isOpen();
    }

    /** Whether it is to be seen to, or somebody does so just now: if there is no answer yet he leaves it open again, and tells nobody. */
    boolean isOpen() {
        return state.get() != OWN;
    }

    /** By the finisher: the same, if the answer is there. Returns whether something was open. */
    boolean finish() {
        try {
            if (isAbandoned()) {
                // Before the look whether whoever closes the session now has opened it meanwhile. Partner: begin.
                over = true;
                if (isOpen()) {
                    over = false;
                } else {
                    finisher.remove(this);
                }
            }
            return finish(finishing);
        } catch (Error e) {
            // Its session is lost and says so. The others need this thread.
            return true;
        }
    }

    /** By the session's thread, in a call of another session. */
    void finishFromAnother() {
        try {
            finish(session.queue());
        } finally {
            // An interrupt that came meanwhile is for the call of the other session.
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
                        "the lock table's device has not answered an unlock for 30 s; close the session and connect anew");
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
