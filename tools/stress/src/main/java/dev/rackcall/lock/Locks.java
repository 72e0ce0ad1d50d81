package dev.rackcall.lock;

import java.lang.foreign.MemorySegment;

/**
 * One lock, and threads of its cohorts that all reach it by memory: the processor does the device's part for the remote
 * threads.
 */
final class Locks {
    /** Of each cohort; each has two descriptors. */
    private static final int PEOPLE = 2;

    private static final int DESCRIPTORS = 2 * PEOPLE;
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
     * A compare-and-set of a word as a load and a store; that suffices where no other thread sets the word, except for
     * the missing fence.
     */
    static Locks withoutFence() {
        return new Locks(new UnfencedWords(new ProcessorWords(memory())));
    }

    private static MemorySegment memory() {
        return MemorySegment.ofArray(new long[(int) (LockLayout.bytes(DESCRIPTORS, 1) / Long.BYTES)]);
    }

    /** A thread; its number from 1 within its cohort. */
    Person person(boolean remote, int number) {
        return new Person(words, remote, number + (remote ? DESCRIPTORS : 0));
    }

    /** 1 if no thread holds the lock or waits for it, and these two are free. */
    int areFree(Person one, Person other) {
        boolean free = words.load(LINE + LockLayout.LOCAL_TAIL) == 0
                && words.load(LINE + LockLayout.REMOTE_TAIL) == 0
                && isFree(one)
                && isFree(other);
        return free ? 1 : 0;
    }

    private boolean isFree(Person person) {
        return LockLayout.kind(words.load(LockLayout.descriptorOf(person.descriptor.own))) == LockLayout.FREE;
    }

    /** A local thread and another one, which both count what the lock guards. */
    Counting counting(boolean otherIsRemote) {
        return new Counting(this, otherIsRemote);
    }

    /** Each takes the lock once; 1 and 2 are what they counted to if they did so one after the other. */
    static final class Counting {
        private final Locks locks;
        private final Person one;
        private final Person other;
        private int counter;

        private Counting(Locks locks, boolean otherIsRemote) {
            this.locks = locks;
            one = locks.person(false, 1);
            other = locks.person(otherIsRemote, 2);
        }

        int one() {
            return count(one);
        }

        int other() {
            return count(other);
        }

        private int count(Person person) {
            person.lock();
            int count = counter + 1;
            counter = count;
            person.unlock();
            return count;
        }

        int areFree() {
            return locks.areFree(one, other);
        }
    }

    /** Takes the lock once. */
    static final class Person {
        private final LockWait waiting = new LockWait(false);
        private final CohortQueue queue;
        private final Readers readers;
        private final LockDescriptor descriptor;
        private final LockDescriptor reading;
        private int budget;

        private Person(LockWords words, boolean remote, int number) {
            queue = new CohortQueue(words, waiting, remote, BUDGET);
            readers = new Readers(words, waiting, DESCRIPTORS);
            descriptor = descriptor(words, number);
            reading = descriptor(words, number + PEOPLE);
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

        /** Alone, also without readers. */
        void lockAlone() {
            lock();
            if (!readers.awaitNone(LINE)) {
                throw new AssertionError("a wait without end has ended");
            }
        }

        /** Beside other readers. */
        void read() {
            lock();
            readers.enter(LINE, reading);
            unlock();
        }

        void readNoMore() {
            readers.leave(reading);
        }

        /** Waits a moment at most. */
        boolean lockSoon() {
            waiting.atMost(0, false);
            budget = queue.acquire(LINE, descriptor);
            return budget >= 0;
        }

        void unlock() {
            // Waits a second each time for the next thread; on a busy machine it may be stopped for longer.
            for (int tries = 0; tries < TRIES; tries++) {
                if (queue.release(LINE, descriptor, budget - 1)) {
                    return;
                }
            }
            throw new AssertionError("the next thread has not linked itself");
        }
    }
}
