package dev.rackcall.lock;

import static dev.rackcall.lock.LockLayout.FREE;
import static dev.rackcall.lock.LockLayout.GONE;
import static dev.rackcall.lock.LockLayout.HEAD;
import static dev.rackcall.lock.LockLayout.LOCK;
import static dev.rackcall.lock.LockLayout.NEXT;
import static dev.rackcall.lock.LockLayout.NOBODY;
import static dev.rackcall.lock.LockLayout.OWNER;
import static dev.rackcall.lock.LockLayout.PREVIOUS;
import static dev.rackcall.lock.LockLayout.READING;
import static dev.rackcall.lock.LockLayout.SKIPPED;
import static dev.rackcall.lock.LockLayout.STATE;
import static dev.rackcall.lock.LockLayout.WAITING;
import static dev.rackcall.lock.LockLayout.descriptor;
import static dev.rackcall.lock.LockLayout.descriptorOf;
import static dev.rackcall.lock.LockLayout.freed;
import static dev.rackcall.lock.LockLayout.generation;
import static dev.rackcall.lock.LockLayout.kind;
import static dev.rackcall.lock.LockLayout.reference;
import static dev.rackcall.lock.LockLayout.ring;
import static dev.rackcall.lock.LockLayout.state;

import java.util.function.LongPredicate;

/**
 * Completes for dead threads of one cohort what they began in {@link CohortQueue}. It waits for no thread: a step that
 * depends on a live thread is left for the next call. Its process may die after any step; the next repair then starts
 * over. Reads and writes by memory; compares and sets as the cohort does.
 */
final class CohortRepair {
    private final LockWords words;
    private final LockWords atomics;
    private final long tail;
    private final int first;
    private final int last;

    /** @param atomics the cohort's; only their compare-and-set is used */
    CohortRepair(LockWords words, LockWords atomics, boolean remote, int descriptors) {
        this.words = words;
        this.atomics = atomics;
        tail = remote ? LockLayout.REMOTE_TAIL : LockLayout.LOCAL_TAIL;
        first = remote ? descriptors + 1 : 1;
        last = first + descriptors - 1;
    }

    /**
     * Returns how many descriptors of dead owners are left, in queues or behind a live thread that has to take a step
     * first.
     */
    int repair(LongPredicate isDead) {
        int left;
        boolean progress;
        do {
            left = 0;
            progress = false;
            for (int number = first; number <= last; number++) {
                long owner = words.load(descriptor(number) + OWNER);
                if (owner != 0 && (owner == NOBODY || isDead.test(owner))) {
                    boolean settled = settle(number);
                    if (settled) {
                        words.store(descriptor(number) + OWNER, 0);
                    }
                    progress |= settled;
                    left += settled ? 0 : 1;
                }
            }
        } while (progress && left > 0);
        return left;
    }

    /** Returns whether this descriptor is free. */
    private boolean settle(int number) {
        long at = descriptor(number);
        long state = words.load(at + STATE);
        long own = reference(generation(state), number);
        finishSkip(at);
        return switch (kind(state)) {
            case FREE -> true;
            case WAITING -> settleWaiting(at, own);
            case HEAD -> settleHead(at, own);
            case READING -> {
                free(own, READING);
                yield true;
            }
            // Its predecessor frees it.
            default -> false;
        };
    }

    /**
     * Completes a skip: the thread died after it had unlinked a waiter that was gone, and before it freed that waiter.
     */
    private void finishSkip(long at) {
        long skipped = words.load(at + SKIPPED);
        if (skipped != 0 && words.load(at + NEXT) != skipped) {
            free(skipped, GONE);
        }
    }

    private void free(long reference, int kind) {
        if (words.load(descriptorOf(reference) + STATE) == state(generation(reference), 0, kind)) {
            words.store(descriptorOf(reference) + STATE, freed(reference));
        }
    }

    private boolean settleWaiting(long at, long own) {
        long line = words.load(at + LOCK);
        // The tail is read before the followers: a thread that replaced the tail had named this descriptor before.
        boolean queued = words.load(at + NEXT) != 0 || words.load(line + tail) == own || hasFollower(own);
        if (!queued) {
            free(own, WAITING);
            return true;
        }
        link(at, own);
        long waits = state(generation(own), 0, WAITING);
        if (atomics.compareAndSwap(at + STATE, waits, state(generation(own), 0, GONE)) == waits) {
            return false;
        }
        return settleHead(at, own);
    }

    /**
     * The predecessor cannot leave before this descriptor is linked. So if the predecessor's generation is over, or it
     * has a next, this descriptor is linked.
     */
    private void link(long at, long own) {
        long previous = words.load(at + PREVIOUS);
        long before = descriptorOf(previous);
        if (isCurrent(previous) && words.load(before + NEXT) == 0 && isCurrent(previous)) {
            words.store(before + NEXT, own);
        }
    }

    private boolean isCurrent(long reference) {
        return generation(words.load(descriptorOf(reference) + STATE)) == generation(reference);
    }

    /**
     * Whether a thread saw this descriptor as the tail. That thread need not be behind it: it may be about to read the
     * tail again.
     */
    private boolean hasFollower(long own) {
        for (int number = first; number <= last; number++) {
            if (words.load(descriptor(number) + PREVIOUS) == own
                    && kind(words.load(descriptor(number) + STATE)) != FREE) {
                return true;
            }
        }
        return false;
    }

    private boolean settleHead(long at, long own) {
        long line = words.load(at + LOCK);
        while (true) {
            long next = words.load(at + NEXT);
            if (next == 0) {
                if (atomics.compareAndSwap(line + tail, own, 0) != own && hasFollower(own)) {
                    return false;
                }
                break;
            }
            long waits = state(generation(next), 0, WAITING);
            long seen = atomics.grant(descriptorOf(next), waits, state(generation(next), 0, HEAD), ring(next, 0));
            if (seen != state(generation(next), 0, GONE)) {
                // Granted, now or by the dead thread; or the dead thread was the last and left the queue empty.
                break;
            }
            long after = words.load(descriptorOf(next) + NEXT);
            if (after == 0) {
                if (atomics.compareAndSwap(line + tail, next, 0) != next && hasFollower(next)) {
                    return false;
                }
                free(next, GONE);
                break;
            }
            words.store(at + SKIPPED, next);
            words.store(at + NEXT, after);
            free(next, GONE);
        }
        words.store(at + STATE, freed(own));
        return true;
    }
}
