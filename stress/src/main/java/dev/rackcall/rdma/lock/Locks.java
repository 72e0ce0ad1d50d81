package dev.rackcall.rdma.lock;

import dev.rackcall.rdma.lock.LockSession.Descriptor;
import java.lang.foreign.MemorySegment;

/** One lock, and threads of its cohorts that all reach it by memory: what a device does for the remote ones a processor does as well. */
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

    /** Whose compare-and-set of a word is a load and a store, enough where nobody else sets that word, but for the fence. */
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

    /** 1 if nobody holds the lock or waits for it, and this one is free. */
    int isFree(Person person) {
        boolean free = words.load(LINE + LockLayout.LOCAL_TAIL) == 0
                && words.load(LINE + LockLayout.REMOTE_TAIL) == 0
                && LockLayout.kind(words.load(LockLayout.descriptorOf(person.descriptor.own))) == LockLayout.FREE;
        return free ? 1 : 0;
    }

    /** Who takes the lock once. */
    static final class Person {
        private final Waiting waiting = new Waiting(false);
        private final CohortQueue queue;
        private final Readers readers;
        private final Descriptor descriptor;
        private final Descriptor reading;
        private int budget;

        private Person(LockWords words, boolean remote, int number) {
            queue = new CohortQueue(words, waiting, remote, BUDGET);
            readers = new Readers(words, waiting, DESCRIPTORS);
            descriptor = descriptor(words, number);
            reading = descriptor(words, number + PEOPLE);
        }

        private static Descriptor descriptor(LockWords words, int number) {
            Descriptor made = new Descriptor(number);
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
            // Waits a second each time for who comes next; on a busy machine he may be stopped for longer.
            for (int tries = 0; tries < TRIES; tries++) {
                if (queue.release(LINE, descriptor, budget - 1)) {
                    return;
                }
            }
            throw new AssertionError("who comes next has not linked himself");
        }
    }
}
