package dev.rackcall.lock;

import static dev.rackcall.lock.LockLayout.FREE;
import static dev.rackcall.lock.LockLayout.GONE;
import static dev.rackcall.lock.LockLayout.HEAD;
import static dev.rackcall.lock.LockLayout.NEXT;
import static dev.rackcall.lock.LockLayout.PREVIOUS;
import static dev.rackcall.lock.LockLayout.SKIPPED;
import static dev.rackcall.lock.LockLayout.STATE;
import static dev.rackcall.lock.LockLayout.VICTIM;
import static dev.rackcall.lock.LockLayout.WAITING;
import static dev.rackcall.lock.LockLayout.budget;
import static dev.rackcall.lock.LockLayout.budgetOfRing;
import static dev.rackcall.lock.LockLayout.descriptorOf;
import static dev.rackcall.lock.LockLayout.freed;
import static dev.rackcall.lock.LockLayout.generation;
import static dev.rackcall.lock.LockLayout.isRingFor;
import static dev.rackcall.lock.LockLayout.kind;
import static dev.rackcall.lock.LockLayout.ring;
import static dev.rackcall.lock.LockLayout.state;

/**
 * One cohort's path to a lock, step by step as in the model {@code src/model/alock.pml}: an MCS queue whose head runs
 * Peterson's protocol against the other cohort. The tails are the flags of that protocol. After each step, {@link
 * CohortRepair} can continue from the table if the thread dies.
 */
final class CohortQueue {
    /** Not acquired; the descriptor is free. */
    static final int LEFT = -1;
    /** Not acquired; the descriptor stays in the queue until its predecessor frees it. */
    static final int QUEUED = -2;
    /** Not acquired; the descriptor's successor has not linked itself, and the keeper has to hand over to it. */
    static final int STUCK = -3;
    /**
     * Not acquired; a word changed that only this thread and its predecessor may change. The owner was declared dead,
     * or a foreign process writes the table.
     */
    static final int TAKEN = -4;

    /** After the compare-and-set of the tail, a running thread links itself within microseconds. */
    private static final long LINK_NANOS = 1_000_000_000L;
    /** Not a state: the wait timed out. */
    private static final long GAVE_UP = -1;

    private final LockWords words;
    private final LockWait waiting;
    private final boolean local;
    private final int cohort;
    private final long ownTail;
    private final long otherTail;
    private final int fullBudget;
    private final Runnable beforeWaiting;
    /** Whether another thread was in the queue at this thread's last step. */
    private boolean crowded;

    CohortQueue(LockWords words, LockWait waiting, boolean remote, int fullBudget) {
        this(words, waiting, remote, fullBudget, () -> {});
    }

    /**
     * @param beforeWaiting runs before each wait for other threads, after this thread's steps have become visible to
     *     them
     */
    CohortQueue(LockWords words, LockWait waiting, boolean remote, int fullBudget, Runnable beforeWaiting) {
        this.beforeWaiting = beforeWaiting;
        this.words = words;
        this.waiting = waiting;
        local = !remote;
        cohort = remote ? 2 : 1;
        ownTail = remote ? LockLayout.REMOTE_TAIL : LockLayout.LOCAL_TAIL;
        otherTail = remote ? LockLayout.LOCAL_TAIL : LockLayout.REMOTE_TAIL;
        this.fullBudget = fullBudget;
    }

    /**
     * Takes the lock in this line with a free descriptor whose {@link LockLayout#LOCK} names it.
     *
     * @return what is left of the budget, or {@link #LEFT}, {@link #QUEUED}, {@link #STUCK}, {@link #TAKEN}
     */
    int acquire(long line, LockDescriptor descriptor) {
        if (local && !descriptor.linked && descriptor.previous == 0) {
            long found = joinEmpty(words, line, descriptor.own);
            return found == 0 && isRemoteQueueEmpty(words, line) ? fullBudget : goOn(line, descriptor, found);
        }
        return enter(line, descriptor, join(line, descriptor, 0, true));
    }

    /**
     * The first steps of {@link #join} for a local thread whose descriptor needs no changes. Repeated here, like {@link
     * #leaveAlone}, so that they are compiled for {@link ProcessorWords} alone: in a process whose threads also lock by
     * RDMA, shared code takes two or three times as long. Static, because some processors execute loads before the
     * first compare-and-set, or between the two, one after the other.
     */
    static long joinEmpty(LockWords words, long line, long own) {
        words.store(descriptorOf(own) + STATE, state(generation(own), 0, HEAD));
        return words.compareAndSwap(line + LockLayout.LOCAL_TAIL, 0, own);
    }

    /** Called after {@link #joinEmpty} has found an empty queue; if true, the caller holds the lock. */
    static boolean isRemoteQueueEmpty(LockWords words, long line) {
        return words.seen(line + LockLayout.REMOTE_TAIL) == 0;
    }

    /** The rest of {@link #acquire} after {@link #joinEmpty}, if one of the queues is not empty. */
    int goOn(long line, LockDescriptor descriptor, long found) {
        return enter(line, descriptor, found == 0 ? 0 : join(line, descriptor, found, true));
    }

    int fullBudget() {
        return fullBudget;
    }

    /** {@link #release} for a local thread without a successor. */
    static boolean leaveAlone(LockWords words, long line, long own) {
        long at = descriptorOf(own);
        if (words.load(at + NEXT) != 0 || words.compareAndSwap(line + LockLayout.LOCAL_TAIL, own, 0) != own) {
            return false;
        }
        words.store(at + STATE, freed(own));
        return true;
    }

    /** As {@link #acquire} if the lock is free and both queues are empty; never {@link #QUEUED}. */
    int acquireIfFree(long line, LockDescriptor descriptor) {
        return isFree(line) && join(line, descriptor, 0, false) == 0 ? enter(line, descriptor, 0) : LEFT;
    }

    /** Whether both queues of this lock are empty. */
    boolean isFree(long line) {
        words.look(line);
        return words.seen(line + ownTail) == 0 && words.seen(line + otherTail) == 0;
    }

    /** Waits until the predecessor has freed a descriptor whose wait was given up; false if this wait ends first. */
    boolean awaitFreed(LockDescriptor gone) {
        if (isFreed(gone)) {
            return true;
        }
        beforeWaiting.run();
        boolean hasBell = words.hasBell();
        waiting.start();
        while (waiting.pause()) {
            // No bell rings for this.
            if ((!hasBell || waiting.isTimeToLook()) && isFreed(gone)) {
                return true;
            }
        }
        return false;
    }

    private boolean isFreed(LockDescriptor descriptor) {
        // Pairs with the predecessor's store: all it did with the descriptor is done.
        return kind(words.load(descriptorOf(descriptor.own) + STATE)) == FREE;
    }

    private int enter(long line, LockDescriptor descriptor, long previous) {
        boolean won;
        if (previous == 0) {
            won = competeAfterLook(line);
        } else {
            words.store(descriptorOf(previous) + NEXT, descriptor.own);
            words.flush();
            beforeWaiting.run();
            long granted = awaitTurn(descriptor.own);
            if (granted == GAVE_UP) {
                return QUEUED;
            }
            if (kind(granted) != HEAD || generation(granted) != generation(descriptor.own)) {
                return TAKEN;
            }
            if (budget(granted) > 0) {
                return budget(granted);
            }
            words.look(line);
            won = competeAfterLook(line);
        }
        if (won) {
            return fullBudget;
        }
        return release(line, descriptor, 0) ? LEFT : STUCK;
    }

    /**
     * Enters the queue; if {@code queue} is false, only an empty one. Returns the previous tail; if that is 0, the line
     * was read afterwards.
     *
     * @param guess the expected tail
     */
    private long join(long line, LockDescriptor descriptor, long guess, boolean queue) {
        long own = descriptor.own;
        long at = descriptorOf(own);
        long generation = generation(own);
        if (descriptor.linked) {
            words.store(at + NEXT, 0);
            descriptor.linked = false;
        }
        long previous = guess;
        while (true) {
            // Written before the tail: these words show the keeper whether a dead thread's descriptor is in a queue.
            if (descriptor.previous != previous) {
                words.store(at + PREVIOUS, previous);
                descriptor.previous = previous;
            }
            words.store(at + STATE, state(generation, 0, previous == 0 ? HEAD : WAITING));
            long seen = previous == 0
                    ? words.compareAndSwapAndLook(line + ownTail, 0, own, line)
                    : words.compareAndSwap(line + ownTail, previous, own);
            if (seen == previous) {
                crowded = previous != 0;
                return previous;
            }
            if (!queue) {
                words.store(at + STATE, freed(own));
                return seen;
            }
            previous = seen;
        }
    }

    /**
     * Waits until the predecessor hands over or this thread gives up. Both use compare-and-set on the state, so exactly
     * one happens. Returns {@link #GAVE_UP}, or the new state.
     */
    private long awaitTurn(long own) {
        long at = descriptorOf(own) + STATE;
        long waits = state(generation(own), 0, WAITING);
        boolean hasBell = words.hasBell();
        waiting.start();
        while (true) {
            if (hasBell) {
                // The bell is rung after the state was set. The ringing thread may die before that, or have no
                // connection to this node, so the state is checked, too.
                long rung = words.rung();
                if (isRingFor(rung, own)) {
                    return state(generation(own), budgetOfRing(rung), HEAD);
                }
            }
            if (!hasBell || waiting.isTimeToLook()) {
                long now = words.load(at);
                if (now != waits) {
                    return now;
                }
            }
            if (!waiting.pause()) {
                long gone = state(generation(own), 0, GONE);
                long seen = words.compareAndSwap(at, waits, gone);
                return seen == waits ? GAVE_UP : seen;
            }
        }
    }

    /**
     * Peterson's protocol. A thread that reads 0 from the other tail after setting its own need not yield: a later
     * thread will see its tail and wait.
     */
    private boolean competeAfterLook(long line) {
        if (words.seen(line + otherTail) == 0) {
            return true;
        }
        beforeWaiting.run();
        words.publish(line + VICTIM, cohort);
        waiting.start();
        while (true) {
            words.look(line);
            if (words.seen(line + otherTail) == 0 || words.seen(line + VICTIM) != cohort) {
                return true;
            }
            if (!waiting.pause()) {
                return false;
            }
        }
    }

    /**
     * Hands over to the successor, or leaves the queue empty, and frees the descriptor. With a grant of 0 the successor
     * first competes with the other cohort.
     *
     * @return false if the successor has not linked itself: the keeper takes the descriptor and hands over
     */
    boolean release(long line, LockDescriptor descriptor, int grant) {
        return (local && leaveAlone(words, line, descriptor.own)) || handOver(line, descriptor, grant);
    }

    /**
     * Begins {@link #release} by RDMA without waiting for the compare-and-set's result; {@link #endLeaving} does the
     * rest. Refuses if the queue was crowded: then the result is needed at once.
     */
    boolean leaveLater(LaterWords later, long line, long own) {
        if (crowded) {
            return false;
        }
        later.swapLater(line + ownTail, own, 0);
        return true;
    }

    /** The rest of {@link #release} after {@link #leaveLater}, given the compare-and-set's result. */
    boolean endLeaving(long line, LockDescriptor descriptor, int grant, long found) {
        if (found == descriptor.own) {
            words.store(descriptorOf(found) + STATE, freed(found));
            return true;
        }
        // There is a successor: start again, this time reading it.
        crowded = true;
        return handOver(line, descriptor, grant);
    }

    private boolean handOver(long line, LockDescriptor descriptor, int grant) {
        long own = descriptor.own;
        long at = descriptorOf(own);
        boolean skipped = false;
        // By RDMA, guessing that there is no successor costs the same round trip as reading it.
        long next = words.isRemote() ? 0 : words.load(at + NEXT);
        while (true) {
            if (next == 0) {
                if (leave(line, own)) {
                    break;
                }
                next = crowded ? words.seen(at + NEXT) : 0;
                crowded = true;
                next = next == 0 ? awaitLink(own) : next;
            }
            if (next == 0) {
                return false;
            }
            descriptor.linked = true;
            long waits = state(generation(next), 0, WAITING);
            long granted = state(generation(next), grant, HEAD);
            if (words.grant(descriptorOf(next), waits, granted, ring(next, grant)) == waits) {
                break;
            }
            long after = words.load(descriptorOf(next) + NEXT);
            if (after == 0) {
                if (words.compareAndSwap(line + ownTail, next, 0) == next) {
                    words.store(descriptorOf(next) + STATE, freed(next));
                    skipped = true;
                    break;
                }
                after = awaitLink(next);
            }
            if (after == 0) {
                return false;
            }
            skip(at, next, after);
            skipped = true;
            next = after;
        }
        // By RDMA this may travel with the thread's next request: no thread waits for it, unless waiters were skipped.
        words.store(at + STATE, freed(own));
        if (skipped) {
            words.flush();
        }
        return true;
    }

    /**
     * Empties the queue if there is no successor. If the queue was crowded, the same round trip reads the successor.
     */
    private boolean leave(long line, long own) {
        return own
                == (crowded
                        ? words.compareAndSwapAndLook(line + ownTail, own, 0, descriptorOf(own))
                        : words.compareAndSwap(line + ownTail, own, 0));
    }

    /** Writes in this order, so that the keeper can complete it for a dead thread and finds every waiter. */
    private void skip(long at, long gone, long after) {
        words.store(at + SKIPPED, gone);
        words.store(at + NEXT, after);
        words.store(descriptorOf(gone) + STATE, freed(gone));
    }

    private long awaitLink(long of) {
        long start = System.nanoTime();
        waiting.start();
        long next = words.load(descriptorOf(of) + NEXT);
        while (next == 0 && waiting.pauseBriefly(start, LINK_NANOS)) {
            next = words.load(descriptorOf(of) + NEXT);
        }
        return next;
    }
}
