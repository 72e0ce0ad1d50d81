package dev.rackcall.lock;

import java.lang.foreign.MemorySegment;

/**
 * One lock, and threads of its cohorts, which all reach it by memory: the processor replaces the device for the remote
 * threads.
 */
final class Locks {
    /** Of each cohort; each has two descriptors. */
    private static final int THREADS = 2;

    private static final int DESCRIPTORS = 2 * THREADS;
    private static final int BUDGET = 2;
    private static final int TRIES = 30;
    private static final long LINE = LockLayout.lock(DESCRIPTORS, 0);

    private final LockWords words;

    private Locks(LockWords words) {
        this.words = words;
    }

    static Locks create() {
        return new Locks(new ProcessorWords(memory()));
    }

    /**
     * A planted bug, see {@link LockRaces.PlantedUnfencedTail}: a compare-and-set of a word is a load and a store. That
     * suffices where no other thread sets the word, except for the missing fence.
     */
    static Locks withoutFence() {
        return new Locks(new ProcessorWords(memory()) {
            @Override
            public long compareAndSwap(long offset, long expected, long desired) {
                long seen = load(offset);
                if (seen == expected) {
                    store(offset, desired);
                }
                return seen;
            }
        });
    }

    private static MemorySegment memory() {
        return MemorySegment.ofArray(new long[(int) (LockLayout.bytes(DESCRIPTORS, 1) / Long.BYTES)]);
    }

    /** A thread; its number from 1 within its cohort. */
    Locker locker(boolean remote, int number) {
        return new Locker(words, remote, number + (remote ? DESCRIPTORS : 0));
    }

    /** 1 if no thread holds the lock or waits for it, and these two are free. */
    int areFree(Locker one, Locker other) {
        boolean free = words.load(LINE + LockLayout.LOCAL_TAIL) == 0
                && words.load(LINE + LockLayout.REMOTE_TAIL) == 0
                && isFree(one)
                && isFree(other);
        return free ? 1 : 0;
    }

    private boolean isFree(Locker locker) {
        return LockLayout.kind(words.load(LockLayout.descriptorOf(locker.descriptor.own))) == LockLayout.FREE;
    }

    /** A local thread and another one. Each takes the lock once and counts; 1 and 2 are their counts if one came after the other. */
    static final class Counting {
        private final Locks locks;
        private final Locker one;
        private final Locker other;
        private int counter;

        Counting(Locks locks, boolean otherIsRemote) {
            this.locks = locks;
            one = locks.locker(false, 1);
            other = locks.locker(otherIsRemote, 2);
        }

        int one() {
            return count(one);
        }

        int other() {
            return count(other);
        }

        private int count(Locker locker) {
            locker.lock();
            int count = counter + 1;
            counter = count;
            locker.unlock();
            return count;
        }

        int areFree() {
            return locks.areFree(one, other);
        }
    }

    /** Takes the lock once. */
    static final class Locker {
        private final LockWait waiting = new LockWait(false);
        private final CohortQueue queue;
        private final Readers readers;
        private final LockDescriptor descriptor;
        private final LockDescriptor reading;
        private int budget;

        private Locker(LockWords words, boolean remote, int number) {
            queue = new CohortQueue(words, waiting, remote, BUDGET);
            readers = new Readers(words, waiting, DESCRIPTORS);
            descriptor = descriptor(words, number);
            reading = descriptor(words, number + THREADS);
        }

        private static LockDescriptor descriptor(LockWords words, int number) {
            LockDescriptor made = new LockDescriptor(number);
            made.own = LockLayout.reference(0, number);
            words.store(LockLayout.descriptor(number) + LockLayout.LOCK, LINE);
            return made;
        }

        void lock() {
            waiting.forEver();
            budget = queue.acquire(LINE, descriptor);
        }

        /** Waits for readers, too. */
        void lockAlone() {
            lock();
            if (!readers.awaitNone(LINE)) {
                throw new AssertionError("an unbounded wait has ended");
            }
        }

        /** Takes the lock together with other readers. */
        void read() {
            lock();
            readers.enter(LINE, reading);
            unlock();
        }

        void readNoMore() {
            readers.leave(reading);
        }

        /** Times out almost at once. */
        boolean lockSoon() {
            waiting.atMost(0, false);
            budget = queue.acquire(LINE, descriptor);
            return budget >= 0;
        }

        void unlock() {
            // Each try waits a second for the next thread, which a busy machine may stop for longer.
            for (int tries = 0; tries < TRIES; tries++) {
                if (queue.release(LINE, descriptor, budget - 1)) {
                    return;
                }
            }
            throw new AssertionError("the next thread has not linked itself");
        }
    }
}
