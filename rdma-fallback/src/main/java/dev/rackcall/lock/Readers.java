package dev.rackcall.lock;

import static dev.rackcall.lock.LockLayout.LOCK;
import static dev.rackcall.lock.LockLayout.READERS;
import static dev.rackcall.lock.LockLayout.READING;
import static dev.rackcall.lock.LockLayout.STATE;
import static dev.rackcall.lock.LockLayout.descriptor;
import static dev.rackcall.lock.LockLayout.freed;
import static dev.rackcall.lock.LockLayout.generation;
import static dev.rackcall.lock.LockLayout.kind;
import static dev.rackcall.lock.LockLayout.state;

import java.lang.invoke.VarHandle;

/**
 * Who shares a lock. A reader takes the lock as everybody does, says in a descriptor of his own that he reads, and hands the lock on. Who has the lock for himself waits
 * until no descriptor says that any more: new readers cannot come, as they would need the lock. Nothing is compared and set but the lock itself, and a dead reader is a
 * descriptor that the keeper frees.
 */
final class Readers {
    private final LockWords words;
    private final LockWait waiting;
    private final int last;

    Readers(LockWords words, LockWait waiting, int descriptors) {
        this.words = words;
        this.waiting = waiting;
        last = 2 * descriptors;
    }

    /** By who holds the lock. It is there before whoever gets the lock next looks. */
    void enter(long line, Descriptor reader) {
        words.store(line + READERS, 1);
        words.store(descriptor(reader.number) + STATE, state(generation(reader.own), 0, READING));
    }

    /** What was read is read before that is seen: by memory this is a release store, and a queue pair's requests take effect in order. */
    void leave(Descriptor reader) {
        words.store(descriptor(reader.number) + STATE, freed(reader.own));
        words.flush();
    }

    /** Whether the descriptor says still that its owner reads: nobody has held the lock alone before that was looked at. */
    boolean isIn(Descriptor reader) {
        // What was read before must not be read after this, as in StampedLock.validate.
        VarHandle.acquireFence();
        return words.load(descriptor(reader.number) + STATE) == state(generation(reader.own), 0, READING);
    }

    /** Until nobody reads; by who holds the lock. False if it is time to give up. */
    boolean awaitNone(long line) {
        if (words.load(line + READERS) == 0) {
            return true;
        }
        waiting.start();
        for (int first = 1; first <= last; first += LockWords.MOST_LINES) {
            int lines = Math.min(LockWords.MOST_LINES, last - first + 1);
            words.look(descriptor(first), lines);
            for (int number = first; number < first + lines; number++) {
                while (reads(number, line)) {
                    if (!waiting.pause()) {
                        return false;
                    }
                    words.look(descriptor(first), lines);
                }
            }
        }
        words.store(line + READERS, 0);
        return true;
    }

    /** The state before the lock: who has left this one for another says so before. */
    private boolean reads(int number, long line) {
        return kind(words.seen(descriptor(number) + STATE)) == READING && words.seen(descriptor(number) + LOCK) == line;
    }
}
