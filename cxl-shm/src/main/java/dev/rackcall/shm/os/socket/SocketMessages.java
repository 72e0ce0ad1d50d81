package dev.rackcall.shm.os.socket;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Descriptor;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.Optional;

/** Whole messages with descriptors over a socket (sendmsg(2), recvmsg(2), SCM_RIGHTS); waits are bounded. */
final class SocketMessages {
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
                        && (errno != Errno.EAGAIN
                                || !SocketWait.await(descriptor.fd(), LibcSockets.POLLOUT, deadline))) {
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
                if (errno == Errno.EAGAIN && !SocketWait.await(descriptor.fd(), LibcSockets.POLLIN, deadline)) {
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
            // An empty message cannot be told from the end, and no honest peer sends one.
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
}
