package dev.rackcall.shm.os.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;

/** Bounded waits for one socket (poll(2)). */
final class SocketWait {
    /** struct pollfd: 0 descriptor, 4 events, 6 returned events. */
    static final long POLLFD_EVENTS = 4;

    private static final long PAUSE_NANOS = 200_000;
    private static final long LONGEST_PAUSE_NANOS = 5_000_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private SocketWait() {}

    /**
     * Waits for an event or an error.
     *
     * @param deadline as {@link System#nanoTime}
     * @return false if the time is over
     */
    static boolean await(int fd, short events, long deadline) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
            return false;
        }
        if (Thread.currentThread().isVirtual()) {
            park(fd, events, deadline);
        } else {
            poll(fd, events, (int) Math.min(Integer.MAX_VALUE, (left + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI));
        }
        // After a time-out or a signal the caller tries once more and then finds the deadline passed.
        return true;
    }

    /** In poll(2) a virtual thread would keep its carrier from all others, of which one may hold a lock that the peer in this process needs to answer. */
    private static void park(int fd, short events, long deadline) {
        long pause = PAUSE_NANOS;
        boolean isReady = false;
        for (long left = deadline - System.nanoTime(); left > 0 && !isReady; left = deadline - System.nanoTime()) {
            LockSupport.parkNanos(Math.min(left, pause));
            // An interrupted thread does not park, and has to leave its carrier all the same.
            Thread.yield();
            isReady = poll(fd, events, 0);
            pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
        }
    }

    /** Whether the event or an error is there. */
    private static boolean poll(int fd, short events, int millis) {
        CallState state = CallState.current();
        MemorySegment pollfd = state.scratch();
        pollfd.set(JAVA_INT, 0, fd);
        pollfd.set(JAVA_SHORT, POLLFD_EVENTS, events);
        int ready = LibcSockets.poll(state.errnoSegment(), pollfd, 1, millis);
        if (ready < 0 && state.errno() != Errno.EINTR) {
            throw state.failure("waiting for a socket");
        }
        return ready != 0;
    }

    static void pause() {
        LockSupport.parkNanos(PAUSE_NANOS);
    }
}
