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
 * Shares a lock among readers. A reader takes the lock as any thread does, marks a descriptor of its own as READING,
 * and hands the lock on. A writer that has the lock waits until no descriptor is READING; new readers cannot enter,
 * because they would need the lock. Only the lock itself is compared and set. The keeper frees the descriptor of a dead
 * reader.
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

    /** Called by the lock's holder. Visible before the next holder looks. */
    void enter(long line, LockDescriptor reader) {
        words.store(line + READERS, 1);
        words.store(descriptor(reader.number) + STATE, state(generation(reader.own), 0, READING));
    }

    /**
     * All earlier reads are complete before this store: by memory it is a release store, and a queue pair's requests
     * take effect in order.
     */
    void leave(LockDescriptor reader) {
        words.store(descriptor(reader.number) + STATE, freed(reader.own));
        words.flush();
    }

    /** Whether the descriptor is still READING: if so, no thread has held the lock exclusively before this check. */
    boolean isIn(LockDescriptor reader) {
        // Earlier reads must not move behind the load, as in StampedLock.validate.
        VarHandle.acquireFence();
        return words.load(descriptor(reader.number) + STATE) == state(generation(reader.own), 0, READING);
    }

    /** Waits until no thread reads; called by the lock's holder. False if the wait ends first. */
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

    /** Reads the state before the lock: a reader that changes to another lock changes its state first. */
    private boolean reads(int number, long line) {
        return kind(words.seen(descriptor(number) + STATE)) == READING && words.seen(descriptor(number) + LOCK) == line;
    }
}
