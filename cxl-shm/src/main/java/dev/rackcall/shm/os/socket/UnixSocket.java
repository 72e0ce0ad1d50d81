package dev.rackcall.shm.os.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Descriptor;
import dev.rackcall.shm.os.file.FileStatus;
import dev.rackcall.shm.os.file.LibcFiles;
import dev.rackcall.shm.os.file.OpenFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * A Unix socket that preserves message boundaries (SOCK_SEQPACKET), passes descriptors, and serves as a doorbell. The
 * kernel closes the connection when the peer dies, however it dies; the project relies on this as proof of death.
 *
 * <p>Any thread may call any method; {@link #close} does not wait. The socket itself never blocks: waits are bounded
 * polls.
 */
public final class UnixSocket implements AutoCloseable {
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration SEND_TIMEOUT = Duration.ofSeconds(5);
    private static final int TYPE = LibcSockets.SOCK_SEQPACKET | LibcSockets.SOCK_CLOEXEC | LibcSockets.SOCK_NONBLOCK;

    private final Descriptor descriptor;
    private final String name;
    private final Optional<BoundPath> bound;

    private record BoundPath(Path path, FileStatus status) {}

    private UnixSocket(int fd, String name, Optional<BoundPath> bound) {
        this.descriptor = new Descriptor(fd, name);
        this.name = name;
        this.bound = bound;
    }

    /**
     * Listens at a new path, to which only this user may connect (mode 0600).
     *
     * @throws OsException if the path exists (EADDRINUSE): prove that its owner is dead (see {@code OwnerLock}) and
     *     delete it first
     */
    public static UnixSocket listen(Path path, int backlog) {
        CallState state = CallState.current();
        int fd = newSocket(state);
        try (SocketAddress address = SocketAddress.of(path)) {
            // Before bind(2), so that the file never exists with a mode that lets other users connect.
            if (LibcFiles.fchmod(state.errnoSegment(), fd, 0600) != 0) {
                throw state.failure("keeping other users out of " + path);
            }
            if (LibcSockets.bind(state.errnoSegment(), fd, address.segment(), SocketAddress.SOCKADDR_BYTES) != 0) {
                throw new OsException(
                        "listening at " + path,
                        state.errno(),
                        "the path must be new and its directory writable; delete it if its owner is dead");
            }
            if (LibcSockets.listen(state.errnoSegment(), fd, backlog) != 0) {
                OsException failure = state.failure("listening at " + path);
                OpenFile.unlink(path);
                throw failure;
            }
            Optional<BoundPath> bound = FileStatus.of(path).map(status -> new BoundPath(path, status));
            return new UnixSocket(fd, "socket " + path, bound);
        } catch (RuntimeException e) {
            Descriptor.close(fd);
            throw e;
        }
    }

    /** As {@link #connect(Path, Duration)}, waiting up to 2 s for a listener whose backlog is full. */
    public static UnixSocket connect(Path path) {
        return connect(path, CONNECT_TIMEOUT);
    }

    /**
     * Connects to a listener.
     *
     * @throws OsException if there is no listener (ENOENT, ECONNREFUSED), or its backlog stays full (EAGAIN)
     */
    public static UnixSocket connect(Path path, Duration timeout) {
        CallState state = CallState.current();
        int fd = newSocket(state);
        long deadline = System.nanoTime() + timeout.toNanos();
        try (SocketAddress address = SocketAddress.of(path)) {
            while (LibcSockets.connect(state.errnoSegment(), fd, address.segment(), SocketAddress.SOCKADDR_BYTES)
                    != 0) {
                int errno = state.errno();
                boolean full = errno == Errno.EAGAIN;
                if ((!full && errno != Errno.EINTR) || deadline - System.nanoTime() <= 0) {
                    String advice = full ? "it does not accept: is it stopped?" : "is the server running?";
                    throw new OsException("connecting to " + path, errno, advice);
                }
                // The kernel has no event for a free place in a backlog.
                SocketMessages.pause();
            }
            return new UnixSocket(fd, "socket " + path, Optional.empty());
        } catch (RuntimeException e) {
            Descriptor.close(fd);
            throw e;
        }
    }

    /** Both ends of a new connection in this process. */
    public record Pair(UnixSocket left, UnixSocket right) {}

    /** A connection within this process, for tests and for handing one end to a child. */
    public static Pair pair() {
        CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment fds = arena.allocate(JAVA_INT, 2);
            if (LibcSockets.socketpair(state.errnoSegment(), LibcSockets.AF_UNIX, TYPE, 0, fds) != 0) {
                throw state.failure("socketpair");
            }
            return new Pair(
                    new UnixSocket(fds.getAtIndex(JAVA_INT, 0), "socket pair", Optional.empty()),
                    new UnixSocket(fds.getAtIndex(JAVA_INT, 1), "socket pair", Optional.empty()));
        }
    }

    private static int newSocket(CallState state) {
        int fd = LibcSockets.socket(state.errnoSegment(), LibcSockets.AF_UNIX, TYPE, 0);
        if (fd < 0) {
            throw new OsException("opening a socket", state.errno(), "raise ulimit -n or close connections");
        }
        return fd;
    }

    /** The next pending connection, if any; never blocks. */
    public Optional<UnixSocket> accept() {
        descriptor.enter();
        try {
            CallState state = CallState.current();
            int flags = LibcSockets.SOCK_CLOEXEC | LibcSockets.SOCK_NONBLOCK;
            int fd = LibcSockets.accept4(
                    state.errnoSegment(), descriptor.fd(), MemorySegment.NULL, MemorySegment.NULL, flags);
            if (fd >= 0) {
                return Optional.of(new UnixSocket(fd, "connection of " + name, Optional.empty()));
            }
            return switch (state.errno()) {
                case Errno.EAGAIN, Errno.EINTR, Errno.ECONNABORTED -> Optional.empty();
                default ->
                    throw new OsException("accepting at " + name, state.errno(), "raise ulimit -n if it is EMFILE");
            };
        } finally {
            descriptor.exit();
        }
    }

    /** The process at the other end. */
    public PeerCredentials peer() {
        descriptor.enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment ucred = arena.allocate(JAVA_INT, 3);
            MemorySegment length = arena.allocateFrom(JAVA_INT, (int) ucred.byteSize());
            CallState state = CallState.current();
            int result = LibcSockets.getsockopt(
                    state.errnoSegment(),
                    descriptor.fd(),
                    LibcSockets.SOL_SOCKET,
                    LibcSockets.SO_PEERCRED,
                    ucred,
                    length);
            if (result != 0) {
                throw state.failure("getting the peer's credentials of " + name);
            }
            return new PeerCredentials(
                    ucred.getAtIndex(JAVA_INT, 0), ucred.getAtIndex(JAVA_INT, 1), ucred.getAtIndex(JAVA_INT, 2));
        } finally {
            descriptor.exit();
        }
    }

    /**
     * Sends a message of 1 byte to 64 KiB, with at most 16 descriptors. The receiver gets copies of those.
     *
     * @throws OsException if the peer has closed its socket (EPIPE), or does not read for 5 s (EAGAIN)
     */
    public void send(byte[] message, int... fds) {
        send(message, SEND_TIMEOUT, fds);
    }

    /**
     * As {@link #send(byte[], int...)}, with the caller's own time limit.
     *
     * @param atMost how long to wait for a peer that does not read; zero to fail at once
     * @throws OsException if the peer has closed its socket (EPIPE), or does not read within {@code atMost} (EAGAIN);
     *     nothing was sent then
     */
    public void send(byte[] message, Duration atMost, int... fds) {
        SocketMessages.send(descriptor, name, message, atMost, fds);
    }

    /**
     * Receives the next message. Returns {@link Message#isEnd} when the peer has closed its socket or died, and empty
     * when the time is up.
     *
     * @throws OsException (EMSGSIZE) if the peer sent more than 64 KiB or 16 descriptors at once; all its descriptors
     *     are closed
     * @throws IllegalStateException if this end is closed, now or while waiting
     */
    public Optional<Message> receive(Duration timeout) {
        return SocketMessages.receive(descriptor, name, timeout);
    }

    /**
     * Rings the peer's doorbell: sends one byte, without blocking or allocating.
     *
     * @return false if the peer has closed its socket or this end is closed. Otherwise true, even if the ring was
     *     dropped because many are pending
     */
    public boolean ring() {
        int errno = SocketRings.send(descriptor);
        return errno == 0 || errno == Errno.EAGAIN;
    }

    /**
     * As {@link #ring()}, with a number for the peer's {@link #drain(LongConsumer)}.
     *
     * @return whether it was sent; false also if too many rings are pending
     */
    public boolean ring(long number) {
        return SocketRings.send(descriptor, number) == 0;
    }

    /**
     * Takes the pending doorbell messages, at most 1024, without blocking or allocating. The kernel drops descriptors
     * sent with them.
     *
     * @return number of messages; -1 if none is pending and the peer has closed its socket, or if this end is closed
     */
    public int drain() {
        return drain(number -> {});
    }

    /**
     * As {@link #drain()}.
     *
     * @param numbers receives the numbers that the peer passed to {@link #ring(long)}; it can send any number
     */
    public int drain(LongConsumer numbers) {
        return SocketRings.drain(descriptor, numbers, SocketRings.MAX_DRAIN);
    }

    /**
     * As {@link #drain(LongConsumer)}, but leaves the messages after the first ring, if there are any. An {@link EventPoll}
     * reports those again. Where a peer rings once, this saves the system call that finds no second ring.
     *
     * @param numbers as above
     */
    public int drainToRing(LongConsumer numbers) {
        return SocketRings.drain(descriptor, numbers, 1);
    }

    /** The descriptor's number; valid until {@link #close}, which any thread may call. */
    public int fd() {
        return descriptor.fd();
    }

    /**
     * Watches this socket, as {@link EventPoll#add}.
     *
     * @return false if it is closed: its number may already be another file's
     */
    public boolean watch(EventPoll poll, long tag) {
        if (!descriptor.tryEnter()) {
            return false;
        }
        try {
            poll.add(descriptor.fd(), tag);
            return true;
        } finally {
            descriptor.exit();
        }
    }

    /** Stops watching, as {@link EventPoll#remove}. The kernel no longer watches a closed socket. */
    public void unwatch(EventPoll poll) {
        if (descriptor.tryEnter()) {
            try {
                poll.remove(descriptor.fd());
            } finally {
                descriptor.exit();
            }
        }
    }

    public boolean isOpen() {
        return !descriptor.isClosed();
    }

    /** Closes the connection for both sides and wakes waiting threads. A listener removes its path. Idempotent. */
    @Override
    public void close() {
        bound.ifPresent(UnixSocket::removePath);
        if (descriptor.tryEnter()) {
            // Marked as closed first, so that a thread woken by the shutdown sees it. Threads that are using the
            // descriptor keep its number open.
            descriptor.close();
            LibcSockets.shutdown(CallState.current().errnoSegment(), descriptor.fd(), LibcSockets.SHUT_RDWR);
            descriptor.exit();
        }
    }

    /** Whether the path of a listener is missing, or is another file by now. */
    public boolean hasLostPath() {
        return bound.filter(path -> FileStatus.of(path.path())
                        .filter(path.status()::isSameFile)
                        .isEmpty())
                .isPresent();
    }

    /** Removes the path, unless a successor already listens there. */
    private static void removePath(BoundPath bound) {
        FileStatus.of(bound.path())
                .filter(bound.status()::isSameFile)
                .ifPresent(status -> OpenFile.unlink(bound.path()));
    }

    @Override
    public String toString() {
        return name;
    }
}
