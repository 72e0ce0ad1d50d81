package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The turn to reserve memory, of one thread in all processes that share a limit. They lock (flock(2)) the directories
 * of the control groups with a limit, which all of them see and which vanish with the groups. The kernel releases the
 * locks of a process that dies. Without such groups, only the threads of this process take turns.
 *
 * <p>Every local process can lock these directories. A thread therefore waits only briefly for a process of another
 * user. After each failed wait, threads of this process do not wait for a while. Each further failure doubles that
 * time.
 */
final class ReservationTurn implements AutoCloseable {
    /** A turn lasts as long as clearing the pages; some hundred milliseconds for a gigabyte. */
    private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(10);
    /**
     * For how long threads reserve without waiting for other processes, after the first turn that was not released in
     * time, for example because its process was stopped.
     */
    private static final long FIRST_UNLOCKED_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final long MOST_UNLOCKED_NANOS = TimeUnit.HOURS.toNanos(1);
    private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
    /**
     * How often to check which process holds the lock. A thread waits for a process of another user for one or two such
     * periods.
     */
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private static final int LOCK_EX = 2;
    private static final int LOCK_NB = 4;

    private static final ReentrantLock HERE = new ReentrantLock();
    /** Until when threads do not wait for other processes' turns. Guarded by the lock, as is {@link #unlockedNanos}. */
    private static long unlockedUntil = System.nanoTime();
    /** For how long threads do not wait after the next turn that is not released in time. */
    private static long unlockedNanos = FIRST_UNLOCKED_NANOS;

    private final List<Integer> locked = new ArrayList<>();
    private boolean interrupted;

    private ReservationTurn() {}

    /**
     * Waits for the turn. If another process holds the turn for more than {@link #BOUND_NANOS}, continues without it.
     */
    static ReservationTurn take() {
        return take(ControlGroups.ofThisProcess().limited(), BOUND_NANOS);
    }

    static ReservationTurn take(List<Path> groups, long boundNanos) {
        HERE.lock();
        ReservationTurn turn = new ReservationTurn();
        try {
            long begin = System.nanoTime();
            if (begin - unlockedUntil >= 0) {
                boolean all = true;
                // All processes lock the highest group first, so none waits for a lower one that waits for it.
                for (Path group : groups) {
                    all = all && turn.lock(group, begin + boundNanos);
                }
                if (all) {
                    unlockedNanos = FIRST_UNLOCKED_NANOS;
                } else {
                    unlockedUntil = System.nanoTime() + unlockedNanos;
                    unlockedNanos = Math.min(2 * unlockedNanos, MOST_UNLOCKED_NANOS);
                }
            }
            return turn;
        } catch (RuntimeException | Error e) {
            turn.close();
            throw e;
        }
    }

    /** Forgets all failed waits; for tests. */
    static void forget() {
        HERE.lock();
        try {
            unlockedUntil = System.nanoTime();
            unlockedNanos = FIRST_UNLOCKED_NANOS;
        } finally {
            HERE.unlock();
        }
    }

    /** For how long threads do not wait after the next turn that is not released in time. */
    static long unlockedNanos() {
        HERE.lock();
        try {
            return unlockedNanos;
        } finally {
            HERE.unlock();
        }
    }

    /** Returns false after a failed wait. */
    private boolean lock(Path group, long end) {
        int fd = OpenFile.tryOpen(group, LibcFiles.O_RDONLY, 0);
        if (fd < 0) {
            // Without the right to read it, only the check protects.
            return true;
        }
        locked.add(fd);
        CallState state = CallState.current();
        long looked = System.nanoTime();
        OptionalInt stranger = OptionalInt.empty();
        while (LibcFiles.flock(state.errnoSegment(), fd, LOCK_EX | LOCK_NB) != 0) {
            if (state.errno() != Errno.EAGAIN && state.errno() != Errno.EINTR) {
                return true;
            }
            long now = System.nanoTime();
            if (now - end >= 0) {
                return false;
            }
            if (now - looked >= LOOK_NANOS) {
                OptionalInt holder = LockHolders.stranger(FileStatus.of(fd, group.toString()));
                if (holder.isPresent() && holder.equals(stranger)) {
                    return false;
                }
                stranger = holder;
                looked = now;
            }
            // Otherwise an interrupted thread would not pause.
            interrupted |= Thread.interrupted();
            LockSupport.parkNanos(POLL_NANOS);
        }
        return true;
    }

    @Override
    public void close() {
        locked.forEach(Descriptor::close);
        HERE.unlock();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
