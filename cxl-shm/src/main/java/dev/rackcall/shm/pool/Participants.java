package dev.rackcall.shm.pool;

import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.os.file.SharedFile;
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
    private final int first;
    private final int last;

    /** Of a pool that only one host uses. */
    Participants(SharedFile file, MemorySegment memory) {
        this(file, memory, 1, ArenaSpec.MAX_PARTICIPANT);
    }

    /** Of a pool that several hosts use: those of one host, who are the only ones that its kernel knows. They have the numbers {@code first} to {@code last}. */
    Participants(SharedFile file, MemorySegment memory, int first, int last) {
        this.file = file;
        this.memory = memory;
        this.first = first;
        this.last = last;
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

    /**
     * As {@link #closeGate}.
     *
     * @throws PoolException if somebody held it for 5 s
     */
    void requireGate() {
        if (!closeGate()) {
            throw new PoolException("pool " + file
                    + " is being opened or closed by a process that does not go on; end that process (see fuser)");
        }
    }

    void openGate() {
        file.unlock(PoolLayout.LOCKS);
    }

    /** Takes a number that nobody has; 0 if there is none. Behind the gate. */
    int join() {
        for (int number = first; number <= last; number++) {
            if (file.tryLock(PoolLayout.LOCKS + number)) {
                PoolLayout.raiseParticipants(memory, number);
                return number;
            }
        }
        return 0;
    }

    /** How many there can be. */
    int most() {
        return last - first + 1;
    }

    /** Whether they are those of {@code host} in a pool of several hosts. */
    boolean isOf(int host) {
        return last == PoolHosts.last(host);
    }

    private int highest() {
        return Math.min(last, PoolLayout.participants(memory));
    }

    /** How many live besides this one. */
    int others() {
        int others = 0;
        for (int number = first; number <= highest(); number++) {
            others += file.isLockedElsewhere(PoolLayout.LOCKS + number) ? 1 : 0;
        }
        return others;
    }

    /** Calls {@code action} with each number but {@code self} whose owner is dead; nobody can get that number meanwhile. */
    void forEachDead(int self, IntConsumer action) {
        for (int number = first; number <= highest(); number++) {
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
