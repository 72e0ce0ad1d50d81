package dev.rackcall.shm;

import dev.rackcall.shm.os.SharedFile;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/**
 * Who uses a pool. Each has a number and, as long as it lives, the kernel's lock on that number's byte (an open-file-description lock, which
 * ends with its process, however that ends). Whoever gets the lock of a number therefore knows that nobody else uses it.
 */
final class Participants {
    private static final long GATE_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    private final SharedFile file;
    private final MemorySegment memory;

    Participants(SharedFile file, MemorySegment memory) {
        this.file = file;
        this.memory = memory;
    }

    /** Keeps all others from coming and going until {@link #openGate}; false if somebody held it for 5 s. */
    boolean closeGate() {
        long deadline = System.nanoTime() + GATE_NANOS;
        while (!file.tryLock(PoolLayout.LOCKS)) {
            if (System.nanoTime() - deadline > 0) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return true;
    }

    void openGate() {
        file.unlock(PoolLayout.LOCKS);
    }

    /** Takes a number that nobody has; 0 if there is none. Behind the gate. */
    int join() {
        for (int number = 1; number <= PageEntry.MAX_OWNER; number++) {
            if (file.tryLock(PoolLayout.LOCKS + number)) {
                PoolLayout.raiseParticipants(memory, number);
                return number;
            }
        }
        return 0;
    }

    /** How many live besides this one. */
    int others() {
        int others = 0;
        for (int number = 1; number <= PoolLayout.participants(memory); number++) {
            others += file.isLockedElsewhere(PoolLayout.LOCKS + number) ? 1 : 0;
        }
        return others;
    }

    /** Calls {@code action} with each number but {@code self} whose owner is dead; nobody can get that number meanwhile. */
    void forEachDead(int self, IntConsumer action) {
        for (int number = 1; number <= PoolLayout.participants(memory); number++) {
            if (number != self && file.tryLock(PoolLayout.LOCKS + number)) {
                try {
                    action.accept(number);
                } finally {
                    file.unlock(PoolLayout.LOCKS + number);
                }
            }
        }
    }
}
