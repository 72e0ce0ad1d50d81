package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The turn to reserve memory, of one thread in all processes that share a limit. They lock (flock(2)) the directories of
 * the control groups with a limit, which all of them see and which vanish with the groups. The kernel releases the locks
 * of a process that dies. Without such groups, only the threads of this process take turns.
 */
final class ReservationTurn implements AutoCloseable {
    /** A turn lasts as long as clearing the pages; some hundred milliseconds for a gigabyte. */
    private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** After a turn that was not released in time, for example by a stopped process, nothing waits for that long. */
    private static final long UNLOCKED_NANOS = TimeUnit.MINUTES.toNanos(1);

    private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final int LOCK_EX = 2;
    private static final int LOCK_NB = 4;

    private static final ReentrantLock HERE = new ReentrantLock();
    /** Until when no other process's turn is waited for. Guarded by the lock. */
    private static long unlockedUntil = System.nanoTime();

    private final List<Integer> locked = new ArrayList<>();

    private ReservationTurn() {}

    /** Waits for the turn; for another process's at most {@link #BOUND_NANOS}, and without one from then on. */
    static ReservationTurn take() {
        return take(ControlGroups.ofThisProcess().limited(), BOUND_NANOS);
    }

    static ReservationTurn take(List<Path> groups, long boundNanos) {
        HERE.lock();
        ReservationTurn turn = new ReservationTurn();
        try {
            long begin = System.nanoTime();
            if (begin - unlockedUntil >= 0) {
                // All processes lock the highest group first, so none waits for a lower one that waits for it.
                for (Path group : groups) {
                    turn.lock(group, begin + boundNanos);
                }
            }
            return turn;
        } catch (RuntimeException | Error e) {
            turn.close();
            throw e;
        }
    }

    private void lock(Path group, long end) {
        int fd = OpenFile.tryOpen(group, LibcFiles.O_RDONLY, 0);
        if (fd < 0) {
            // Without the right to read it, only the check protects.
            return;
        }
        locked.add(fd);
        CallState state = CallState.current();
        while (LibcFiles.flock(state.errnoSegment(), fd, LOCK_EX | LOCK_NB) != 0) {
            if (state.errno() != Errno.EAGAIN && state.errno() != Errno.EINTR) {
                return;
            }
            if (System.nanoTime() - end >= 0) {
                unlockedUntil = System.nanoTime() + UNLOCKED_NANOS;
                return;
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    @Override
    public void close() {
        locked.forEach(Descriptor::close);
        HERE.unlock();
    }
}
