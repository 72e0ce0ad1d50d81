package dev.rackcall.rdma.lock;

import static dev.rackcall.rdma.lock.LockLayout.GONE;
import static dev.rackcall.rdma.lock.LockLayout.HEAD;
import static dev.rackcall.rdma.lock.LockLayout.NEXT;
import static dev.rackcall.rdma.lock.LockLayout.PREVIOUS;
import static dev.rackcall.rdma.lock.LockLayout.SKIPPED;
import static dev.rackcall.rdma.lock.LockLayout.STATE;
import static dev.rackcall.rdma.lock.LockLayout.VICTIM;
import static dev.rackcall.rdma.lock.LockLayout.WAITING;
import static dev.rackcall.rdma.lock.LockLayout.budget;
import static dev.rackcall.rdma.lock.LockLayout.descriptorOf;
import static dev.rackcall.rdma.lock.LockLayout.freed;
import static dev.rackcall.rdma.lock.LockLayout.generation;
import static dev.rackcall.rdma.lock.LockLayout.kind;
import static dev.rackcall.rdma.lock.LockLayout.state;

/**
 * One cohort's way to a lock, step by step as the model in {@code src/model/alock.pml} has it: an MCS queue whose head runs Peterson's protocol against the
 * other cohort. The tails are the flags of that protocol. Each step leaves the table so that {@link CohortRepair} can go on from there if the thread dies.
 */
final class CohortQueue {
    /** Not acquired; the descriptor is free. */
    static final int LEFT = -1;
    /** Not acquired; the descriptor stays in the queue until whoever comes before it frees it. */
    static final int QUEUED = -2;
    /** Not acquired; who comes after the descriptor has not said so, and the keeper has to hand over to him. */
    static final int STUCK = -3;

    /** What follows a compare-and-set of the tail takes a living thread microseconds, or as long as it is stopped. */
    private static final long LINK_NANOS = 1_000_000_000L;

    private final LockWords words;
    private final Waiting waiting;
    private final int cohort;
    private final long ownTail;
    private final long otherTail;
    private final int fullBudget;

    CohortQueue(LockWords words, Waiting waiting, boolean remote, int fullBudget) {
        this.words = words;
        this.waiting = waiting;
        cohort = remote ? 2 : 1;
        ownTail = remote ? LockLayout.REMOTE_TAIL : LockLayout.LOCAL_TAIL;
        otherTail = remote ? LockLayout.LOCAL_TAIL : LockLayout.REMOTE_TAIL;
        this.fullBudget = fullBudget;
    }

    /**
     * Takes the lock in this line with the free descriptor that {@code own} names, and whose {@link LockLayout#LOCK} says so.
     *
     * @return what is left of the budget, or {@link #LEFT}, {@link #QUEUED}, {@link #STUCK}
     */
    int acquire(long line, long own) {
        return enter(line, own, join(line, own, true));
    }

    /** As {@link #acquire}, if nobody holds the lock or waits for it; never {@link #QUEUED}. */
    int acquireIfFree(long line, long own) {
        words.look(line);
        if (words.seen(line + ownTail) != 0 || words.seen(line + otherTail) != 0) {
            return LEFT;
        }
        return join(line, own, false) == 0 ? enter(line, own, 0) : LEFT;
    }

    private int enter(long line, long own, long previous) {
        if (previous != 0) {
            words.store(descriptorOf(previous) + NEXT, own);
            long granted = awaitTurn(own);
            if (kind(granted) != HEAD) {
                return QUEUED;
            }
            if (budget(granted) > 0) {
                return budget(granted);
            }
        }
        if (compete(line)) {
            return fullBudget;
        }
        return release(line, own, 0) ? LEFT : STUCK;
    }

    /** Enters the queue, or if not {@code queue} only an empty one, and returns whom it found there. */
    private long join(long line, long own, boolean queue) {
        long at = descriptorOf(own);
        long generation = generation(own);
        words.store(at + NEXT, 0);
        long previous = 0;
        while (true) {
            // Before the tail: whoever finds this descriptor of a dead thread knows by them whether it is in a queue.
            words.store(at + PREVIOUS, previous);
            words.store(at + STATE, state(generation, 0, previous == 0 ? HEAD : WAITING));
            long seen = words.compareAndSwap(line + ownTail, previous, own);
            if (seen == previous) {
                return previous;
            }
            if (!queue) {
                words.store(at + STATE, freed(own));
                words.flush();
                return seen;
            }
            previous = seen;
        }
    }

    /** Until the predecessor hands over, or this one gives up: both by compare-and-set, so that one of the two happens. */
    private long awaitTurn(long own) {
        long at = descriptorOf(own) + STATE;
        long waits = state(generation(own), 0, WAITING);
        waiting.start();
        while (true) {
            long now = words.load(at);
            if (now != waits) {
                return now;
            }
            if (!waiting.pause()) {
                long gone = state(generation(own), 0, GONE);
                long seen = words.compareAndSwap(at, waits, gone);
                return seen == waits ? gone : seen;
            }
        }
    }

    /** Peterson's protocol. Who finds the other tail 0 after setting the own one needs not be polite: who comes later will see it, and wait. */
    private boolean compete(long line) {
        words.look(line);
        if (words.seen(line + otherTail) == 0) {
            return true;
        }
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
     * Hands over to the next in the cohort, or leaves the queue empty, and frees the descriptor. With a grant of 0 the next competes with the other cohort first.
     *
     * @return false if the next has not linked itself: the keeper must do the rest, and the descriptor is the keeper's
     */
    boolean release(long line, long own, int grant) {
        long at = descriptorOf(own);
        while (true) {
            // By RDMA the guess that nobody follows costs the round trip that a look would cost.
            long next = words.isRemote() ? 0 : words.load(at + NEXT);
            if (next == 0) {
                if (words.compareAndSwap(line + ownTail, own, 0) == own) {
                    break;
                }
                next = awaitLink(own);
            }
            if (next == 0) {
                return false;
            }
            long waits = state(generation(next), 0, WAITING);
            long granted = state(generation(next), grant, HEAD);
            if (words.compareAndSwap(descriptorOf(next) + STATE, waits, granted) == waits) {
                break;
            }
            long after = words.load(descriptorOf(next) + NEXT);
            if (after == 0) {
                if (words.compareAndSwap(line + ownTail, next, 0) == next) {
                    words.store(descriptorOf(next) + STATE, freed(next));
                    break;
                }
                after = awaitLink(next);
            }
            if (after == 0) {
                return false;
            }
            skip(at, next, after);
        }
        words.store(at + STATE, freed(own));
        words.flush();
        return true;
    }

    /** In this order, so that whoever finishes this for a dead thread finds everybody. */
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
