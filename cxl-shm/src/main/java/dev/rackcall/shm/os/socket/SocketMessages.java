package dev.rackcall.shm.os.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Descriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/** Whole messages with descriptors over a socket (sendmsg(2), recvmsg(2), SCM_RIGHTS). Waits are bounded. */
final class SocketMessages {
    /** struct pollfd: 0 descriptor, 4 events, 6 returned events. */
    static final long POLLFD_EVENTS = 4;

    private static final long PAUSE_NANOS = 200_000;
    private static final long LONGEST_PAUSE_NANOS = 5_000_000;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private SocketMessages() {}

    /** See {@link UnixSocket#send}. */
    static void send(Descriptor descriptor, String name, byte[] message, Duration atMost, int... fds) {
        if (message.length == 0
                || message.length > MessageHeader.MAX_MESSAGE_BYTES
                || fds.length > MessageHeader.MAX_FDS) {
            throw new IllegalArgumentException("a message of " + message.length + " bytes and " + fds.length
                    + " descriptors; at least 1 byte, at most " + MessageHeader.MAX_MESSAGE_BYTES + " and "
                    + MessageHeader.MAX_FDS);
        }
        descriptor.enter();
        try (Arena arena = Arena.ofConfined()) {
            MessageHeader header = MessageHeader.toSend(arena, message, fds);
            long deadline = System.nanoTime() + atMost.toNanos();
            CallState state = CallState.current();
            while (LibcSockets.sendmsg(
                            state.errnoSegment(), descriptor.fd(), header.segment(), LibcSockets.MSG_NOSIGNAL)
                    < 0) {
                int errno = state.errno();
                if (errno != Errno.EINTR
                        && (errno != Errno.EAGAIN || !await(descriptor.fd(), LibcSockets.POLLOUT, deadline))) {
                    throw new OsException("sending " + message.length + " bytes over " + name, errno);
                }
            }
        } finally {
            descriptor.exit();
        }
    }

    /** See {@link UnixSocket#receive}. */
    static Optional<Message> receive(Descriptor descriptor, String name, Duration timeout) {
        descriptor.enter();
        try (Arena arena = Arena.ofConfined()) {
            long deadline = System.nanoTime() + timeout.toNanos();
            MessageHeader header = MessageHeader.toReceive(arena);
            CallState state = CallState.current();
            while (true) {
                long length = LibcSockets.recvmsg(
                        state.errnoSegment(), descriptor.fd(), header.segment(), LibcSockets.MSG_CMSG_CLOEXEC);
                if (descriptor.isClosed()) {
                    closeAll(length >= 0 ? header.fds() : new int[0]);
                    throw new IllegalStateException(name + " is closed");
                }
                if (length >= 0) {
                    return Optional.of(received(name, header, length));
                }
                int errno = state.errno();
                if (errno == Errno.ECONNRESET) {
                    return Optional.of(Message.end());
                }
                if (errno != Errno.EAGAIN && errno != Errno.EINTR) {
                    throw new OsException("receiving from " + name, errno);
                }
                if (errno == Errno.EAGAIN && !await(descriptor.fd(), LibcSockets.POLLIN, deadline)) {
                    return Optional.empty();
                }
            }
        } finally {
            descriptor.exit();
        }
    }

    private static Message received(String name, MessageHeader header, long length) {
        int[] fds = header.fds();
        if (header.isTruncated()) {
            closeAll(fds);
            throw new OsException(
                    "the peer of " + name + " sent more than a message may hold",
                    Errno.EMSGSIZE,
                    "it speaks another protocol: close this connection");
        }
        if (length == 0) {
            // An empty message looks like the end, and no correct peer sends one.
            closeAll(fds);
            return Message.end();
        }
        return new Message(header.bytes(length), fds);
    }

    private static void closeAll(int[] fds) {
        for (int fd : fds) {
            Descriptor.close(fd);
        }
    }

    // ---- waiting

    /**
     * Waits for an event or an error.
     *
     * @param deadline as {@link System#nanoTime}
     * @return false if the time is up
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
        // After a timeout or a signal the caller tries once more and then finds that the deadline has passed.
        return true;
    }

    /**
     * Waits without blocking in poll(2), where a virtual thread would block its carrier. That carrier may be needed by
     * another virtual thread, which holds a lock that a peer in this process waits for.
     */
    private static void park(int fd, short events, long deadline) {
        long pause = PAUSE_NANOS;
        boolean isReady = false;
        for (long left = deadline - System.nanoTime(); left > 0 && !isReady; left = deadline - System.nanoTime()) {
            LockSupport.parkNanos(Math.min(left, pause));
            // An interrupted thread does not park, but must still release its carrier.
            Thread.yield();
            isReady = poll(fd, events, 0);
            pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
        }
    }

    /** Whether the event or an error has occurred. */
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
