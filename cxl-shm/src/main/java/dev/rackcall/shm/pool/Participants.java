package dev.rackcall.shm.pool;

import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;

/**
 * The participants of a pool. Each has a number and holds the kernel's lock on that number's byte. The kernel releases
 * this open-file-description lock when the process ends, however it ends. Getting the lock of a number therefore proves
 * that no other process uses the number.
 */
final class Participants {
    private static final long GATE_NANOS = TimeUnit.SECONDS.toNanos(5);
    /**
     * How long a joining process waits for the gate. Several processes may start at once on a busy host. Each holds the
     * gate while it frees the memory of dead participants, and waiting processes get it in no particular order.
     */
    private static final long JOIN_NANOS = TimeUnit.SECONDS.toNanos(30);

    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    private final SharedFile file;
    private final MemorySegment memory;
    private final int first;
    private final int last;

    /** For a pool that only one host uses. */
    Participants(SharedFile file, MemorySegment memory) {
        this(file, memory, 1, ArenaSpec.MAX_PARTICIPANT);
    }

    /**
     * For a pool that several hosts use: the participants of one host, with the numbers {@code first} to {@code last}.
     * A kernel records only its own host's locks.
     */
    Participants(SharedFile file, MemorySegment memory, int first, int last) {
        this.file = file;
        this.memory = memory;
        this.first = first;
        this.last = last;
    }

    /**
     * Keeps other processes from joining and leaving until {@link #openGate}. Returns false if other processes held the
     * gate for 5 s.
     */
    boolean closeGate() {
        return closeGate(GATE_NANOS, false);
    }

    private boolean closeGate(long atMostNanos, boolean mayEnd) {
        long deadline = System.nanoTime() + atMostNanos;
        while (!file.tryLock(PoolLayout.LOCKS)) {
            // While the thread is interrupted, parking does not pause.
            if (System.nanoTime() - deadline > 0
                    || (mayEnd && Thread.currentThread().isInterrupted())) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return true;
    }

    /**
     * As {@link #closeGate()}, for joining.
     *
     * @throws PoolException if other processes held the gate for 30 s, or the thread is interrupted, and stays so
     */
    void requireGate() {
        if (!closeGate(JOIN_NANOS, true)) {
            if (Thread.currentThread().isInterrupted()) {
                throw new PoolException("pool " + file
                        + " was not joined: the thread was interrupted while other processes held its gate");
            }
            throw new PoolException("pool " + file + " could not be joined: other processes held its gate for "
                    + TimeUnit.NANOSECONDS.toSeconds(JOIN_NANOS) + " s; find the stuck one with fuser and end it");
        }
    }

    void openGate() {
        file.unlock(PoolLayout.LOCKS);
    }

    /** Takes a free number; 0 if there is none. Call it with the gate closed. */
    int join() {
        for (int number = first; number <= last; number++) {
            if (file.tryLock(PoolLayout.LOCKS + number)) {
                PoolLayout.raiseParticipants(memory, number);
                return number;
            }
        }
        return 0;
    }

    /** The maximum number of participants. */
    int most() {
        return last - first + 1;
    }

    /** Whether these are the participants of {@code host} in a pool of several hosts. */
    boolean isOf(int host) {
        return last == PoolHosts.last(host);
    }

    private int highest() {
        return Math.min(last, PoolLayout.participants(memory));
    }

    /** Number of other participants that are alive. */
    int others() {
        int others = 0;
        for (int number = first; number <= highest(); number++) {
            others += file.isLockedElsewhere(PoolLayout.LOCKS + number) ? 1 : 0;
        }
        return others;
    }

    /**
     * Calls {@code action} with the number of each dead participant except {@code self}. No process can take that
     * number during the call.
     */
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
