package dev.rackcall.lock;

import static dev.rackcall.lock.LockLayout.FREE;
import static dev.rackcall.lock.LockLayout.LOCK;
import static dev.rackcall.lock.LockLayout.NOBODY;
import static dev.rackcall.lock.LockLayout.OWNER;
import static dev.rackcall.lock.LockLayout.STATE;
import static dev.rackcall.lock.LockLayout.descriptor;
import static dev.rackcall.lock.LockLayout.generation;
import static dev.rackcall.lock.LockLayout.kind;
import static dev.rackcall.lock.LockLayout.reference;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The descriptors that one session has claimed: those it uses or may use, and those still in a queue after an abandoned
 * wait. All threads of the cohort share the table's descriptors, so spare ones are returned. Confined to the session's
 * thread.
 */
final class SessionDescriptors {
    /** How many unused ones are kept: one for a lock, and one for the next lock or for reading. */
    private static final int KEPT = 2;

    private final LockWords words;
    private final long owner;
    private final int descriptors;
    private final List<LockDescriptor> own = new ArrayList<>();
    /** Those still in a queue until their predecessors free them. The first is checked next. */
    private final List<LockDescriptor> former = new ArrayList<>();

    /** @param descriptors how many each cohort of the table has */
    SessionDescriptors(LockWords words, long owner, int descriptors) {
        this.words = words;
        this.owner = owner;
        this.descriptors = descriptors;
    }

    /**
     * A free descriptor for this lock.
     *
     * @param beside whether another one is claimed for this lock
     * @param spare whether to claim one more for the next lock, if the table has one
     * @throws IllegalMonitorStateException if this session holds that lock, unless {@code beside}
     * @throws IllegalStateException if none is left
     */
    LockDescriptor claim(long line, boolean beside, boolean spare) {
        LockDescriptor free = null;
        for (int i = 0; i < own.size(); i++) {
            LockDescriptor candidate = own.get(i);
            if (!beside) {
                requireNotHeld(candidate, line);
            }
            if (free == null && !candidate.used) {
                free = candidate;
            }
        }
        if (!former.isEmpty() && (free == null || !words.isRemote() || own.size() + former.size() > KEPT)) {
            // Checks one at a time, and only if needed, because by RDMA each takes a round trip.
            free = lookAtNextFormer(free);
        }
        return take(free == null ? claimNew(spare) : free, line);
    }

    /** @throws IllegalMonitorStateException if this session holds the lock in this line */
    void requireNotHeld(long line) {
        for (int i = 0; i < own.size(); i++) {
            requireNotHeld(own.get(i), line);
        }
    }

    private static void requireNotHeld(LockDescriptor descriptor, long line) {
        if (descriptor.used && descriptor.line == line && !descriptor.leaves) {
            throw new IllegalMonitorStateException(
                    "this session holds that lock already, perhaps through another ALock, and it is not reentrant");
        }
    }

    private LockDescriptor lookAtNextFormer(LockDescriptor free) {
        LockDescriptor next = former.removeFirst();
        former.addLast(next);
        boolean usable = isFreed(next) && takeBack(next);
        return free == null && usable ? next : free;
    }

    private LockDescriptor claimNew(boolean spare) {
        Optional<LockDescriptor> claimed = findNew();
        if (claimed.isPresent()) {
            if (spare && own.size() == 1) {
                findNew();
            }
            return claimed.get();
        }
        for (LockDescriptor candidate : List.copyOf(former)) {
            if (isFreed(candidate) && takeBack(candidate)) {
                return candidate;
            }
        }
        throw new IllegalStateException("all " + descriptors
                + " descriptors of this cohort are in use, or still in a queue since their waiters gave up; make the table with"
                + " more, close sessions, or let the keeper recover abandoned ones");
    }

    private Optional<LockDescriptor> findNew() {
        int first = words.isRemote() ? descriptors + 1 : 1;
        int end = first + descriptors;
        for (int from = first; from < end; from += LockWords.MOST_LINES) {
            int lines = Math.min(LockWords.MOST_LINES, end - from);
            words.look(descriptor(from), lines);
            for (int number = from; number < from + lines; number++) {
                if (words.seen(descriptor(number) + OWNER) == 0
                        && words.compareAndSwap(descriptor(number) + OWNER, 0, owner) == 0) {
                    LockDescriptor found = new LockDescriptor(number);
                    words.introduce(descriptor(number));
                    found.own = reference(generation(words.load(descriptor(number) + STATE)), number);
                    own.add(found);
                    return Optional.of(found);
                }
            }
        }
        return Optional.empty();
    }

    private LockDescriptor take(LockDescriptor descriptor, long line) {
        if (descriptor.line != line) {
            words.store(descriptor(descriptor.number) + LOCK, line);
            descriptor.line = line;
        }
        descriptor.readyFor = -1;
        return descriptor;
    }

    /** Whether there is one for the next lock. */
    boolean hasSpare() {
        return spare() > 0;
    }

    private int spare() {
        int spare = 0;
        for (int i = 0; i < own.size(); i++) {
            spare += own.get(i).used ? 0 : 1;
        }
        return spare;
    }

    /** Whether one of them is used. */
    boolean isAnyUsed() {
        return spare() < own.size();
    }

    /** The wait was abandoned: the descriptor stays in its queue until its predecessor skips it. */
    void gone(LockDescriptor descriptor) {
        own.remove(descriptor);
        former.addLast(descriptor);
    }

    /** How many are still in queues after abandoned waits. */
    int formerPlaces() {
        return former.size();
    }

    /** The descriptor that may still be in this lock's queue after an abandoned wait. */
    Optional<LockDescriptor> formerPlace(long line) {
        for (int i = 0; i < former.size(); i++) {
            if (former.get(i).line == line) {
                return Optional.of(former.get(i));
            }
        }
        return Optional.empty();
    }

    /**
     * Takes a descriptor back that was freed after an abandoned wait. Returns false if it was returned to the table,
     * because the session keeps enough.
     */
    boolean takeBack(LockDescriptor descriptor) {
        former.remove(descriptor);
        if (spare() >= KEPT) {
            words.store(descriptor(descriptor.number) + OWNER, 0);
            return false;
        }
        own.add(descriptor);
        return true;
    }

    private boolean isFreed(LockDescriptor descriptor) {
        return kind(words.load(descriptor(descriptor.number) + STATE)) == FREE;
    }

    /** Leaves this descriptor to the keeper. */
    void leaveToKeeper(LockDescriptor descriptor) {
        words.store(descriptor(descriptor.number) + OWNER, NOBODY);
        words.flush();
        own.remove(descriptor);
    }

    /** Returns all of them to the table; the keeper returns those in queues. */
    void giveBack() {
        for (LockDescriptor descriptor : own) {
            words.store(descriptor(descriptor.number) + OWNER, 0);
        }
        for (LockDescriptor descriptor : former) {
            words.store(descriptor(descriptor.number) + OWNER, isFreed(descriptor) ? 0 : NOBODY);
        }
        words.flush();
    }
}
