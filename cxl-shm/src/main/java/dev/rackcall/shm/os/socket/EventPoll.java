package dev.rackcall.shm.os.socket;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import dev.rackcall.shm.os.Abi;
import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Descriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * Waits until one of many sockets is readable or its peer has closed it (epoll(7), level-triggered). One thread waits
 * and reads the results. Any thread may call {@link #add}, {@link #remove} and {@link #wakeUp}. Waiting allocates
 * nothing.
 */
public final class EventPoll implements AutoCloseable {
    /** Offsets in struct epoll_event. */
    static final long EVENTS = 0;

    private static final int CAPACITY = 256;
    private static final long WAKE_UP_TAG = -1;
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private static final long NANOS_PER_MILLI = 1_000_000L;
    private static final int EVENT_BYTES = Abi.current().epollEventBytes();
    /** In the packed structure the data field directly follows the events. */
    private static final long DATA = (long) EVENT_BYTES - Long.BYTES;

    private static final int HANGUP_EVENTS = LibcSockets.EPOLLHUP | LibcSockets.EPOLLRDHUP | LibcSockets.EPOLLERR;

    private final Descriptor epoll;
    private final Descriptor wakeUp;
    private final Arena arena = Arena.ofAuto();
    private final MemorySegment events = arena.allocate((long) CAPACITY * EVENT_BYTES, 8);
    private final MemorySegment timespec = arena.allocate(2 * Long.BYTES, 8);
    private final MemorySegment counter = arena.allocate(JAVA_LONG);
    private final long[] tags = new long[CAPACITY];
    private final boolean[] hangups = new boolean[CAPACITY];
    private boolean nanosecondWait = true;

    private EventPoll(int epoll, int wakeUp) {
        this.epoll = new Descriptor(epoll, "event poll");
        this.wakeUp = new Descriptor(wakeUp, "event poll");
    }

    /** @throws OsException if this process has no descriptors left */
    public static EventPoll create() {
        CallState state = CallState.current();
        int epoll = LibcSockets.epollCreate1(state.errnoSegment(), LibcSockets.EPOLL_CLOEXEC);
        if (epoll < 0) {
            throw new OsException("epoll_create1", state.errno(), "raise ulimit -n or close connections");
        }
        int wakeUp = LibcSockets.eventfd(state.errnoSegment(), 0, LibcSockets.EFD_CLOEXEC | LibcSockets.EFD_NONBLOCK);
        if (wakeUp < 0) {
            OsException failure = new OsException("eventfd", state.errno(), "raise ulimit -n or close connections");
            Descriptor.close(epoll);
            throw failure;
        }
        EventPoll poll = new EventPoll(epoll, wakeUp);
        try {
            poll.register(wakeUp, WAKE_UP_TAG);
            return poll;
        } catch (OsException e) {
            poll.close();
            throw e;
        }
    }

    /**
     * Watches a descriptor until it is removed or closed.
     *
     * @param tag returned by {@link #tag}; not negative
     */
    public void add(int fd, long tag) {
        if (tag < 0) {
            throw new IllegalArgumentException("tags are not negative: " + tag);
        }
        register(fd, tag);
    }

    private void register(int fd, long tag) {
        epoll.enter();
        try (Arena call = Arena.ofConfined()) {
            MemorySegment event = call.allocate(EVENT_BYTES, 8);
            event.set(JAVA_INT_UNALIGNED, EVENTS, LibcSockets.EPOLLIN | LibcSockets.EPOLLRDHUP);
            event.set(JAVA_LONG_UNALIGNED, DATA, tag);
            CallState state = CallState.current();
            if (LibcSockets.epollCtl(state.errnoSegment(), epoll.fd(), LibcSockets.EPOLL_CTL_ADD, fd, event) != 0) {
                throw state.failure("watching descriptor " + fd);
            }
        } finally {
            epoll.exit();
        }
    }

    /** Stops watching. Ignores a descriptor that is not watched or already closed. */
    public void remove(int fd) {
        epoll.enter();
        try {
            CallState state = CallState.current();
            int result = LibcSockets.epollCtl(
                    state.errnoSegment(), epoll.fd(), LibcSockets.EPOLL_CTL_DEL, fd, MemorySegment.NULL);
            if (result != 0 && state.errno() != Errno.ENOENT && state.errno() != Errno.EBADF) {
                throw state.failure("no longer watching descriptor " + fd);
            }
        } finally {
            epoll.exit();
        }
    }

    /**
     * Waits until a descriptor is ready, {@link #wakeUp} is called, or the time is up.
     *
     * @param timeoutNanos 0 only checks; there is no unbounded wait
     * @return how many descriptors are ready: indexes for {@link #tag} and {@link #hangup}. At most 256; the others are
     *     returned next time
     */
    public int await(long timeoutNanos) {
        if (timeoutNanos < 0) {
            throw new IllegalArgumentException("a wait must have a bound: " + timeoutNanos + " ns");
        }
        epoll.enter();
        try {
            return collect(waitForEvents(timeoutNanos));
        } finally {
            epoll.exit();
            Reference.reachabilityFence(this); // C functions write into its memory until here
        }
    }

    private int waitForEvents(long timeoutNanos) {
        CallState state = CallState.current();
        int ready;
        if (nanosecondWait) {
            timespec.set(JAVA_LONG, 0, timeoutNanos / NANOS_PER_SECOND);
            timespec.set(JAVA_LONG, Long.BYTES, timeoutNanos % NANOS_PER_SECOND);
            ready = LibcSockets.epollPwait2(state.errnoSegment(), epoll.fd(), events, CAPACITY, timespec);
            if (ready < 0 && (state.errno() == Errno.ENOSYS || state.errno() == Errno.EPERM)) {
                // Linux before 5.11, or a container whose seccomp filter is older than the system call.
                nanosecondWait = false;
                return waitForEvents(timeoutNanos);
            }
        } else {
            // Rounded up, since a wait of 0 ms would spin.
            long millis = Math.min(Integer.MAX_VALUE, (timeoutNanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI);
            ready = LibcSockets.epollWait(state.errnoSegment(), epoll.fd(), events, CAPACITY, (int) millis);
        }
        if (ready >= 0) {
            return ready;
        }
        if (state.errno() == Errno.EINTR) {
            return 0;
        }
        throw state.failure("waiting for events");
    }

    private int collect(int ready) {
        int count = 0;
        for (int i = 0; i < ready; i++) {
            long at = (long) i * EVENT_BYTES;
            long tag = events.get(JAVA_LONG_UNALIGNED, at + DATA);
            if (tag == WAKE_UP_TAG) {
                LibcSockets.eventfdRead(CallState.current().errnoSegment(), wakeUp.fd(), counter);
                continue;
            }
            tags[count] = tag;
            hangups[count] = (events.get(JAVA_INT_UNALIGNED, at + EVENTS) & HANGUP_EVENTS) != 0;
            count++;
        }
        return count;
    }

    /**
     * Whether waits last the given nanoseconds; otherwise they are rounded up to milliseconds, because the kernel lacks
     * epoll_pwait2(2) or a filter forbids it. Known after the first {@link #await}.
     */
    public boolean waitsForNanoseconds() {
        return nanosecondWait;
    }

    /** The tag of the {@code index}th ready descriptor of the last {@link #await}. */
    public long tag(int index) {
        return tags[index];
    }

    /**
     * Whether the peer of a ready descriptor has closed its socket, or the descriptor has an error. There may still be
     * messages to read.
     */
    public boolean hangup(int index) {
        return hangups[index];
    }

    /** Ends the current {@link #await} early or, if there is none, the next one. Does nothing after {@link #close}. */
    public void wakeUp() {
        if (wakeUp.tryEnter()) {
            try {
                // If the counter is full (EAGAIN), a wake-up is already pending.
                LibcSockets.eventfdWrite(CallState.current().errnoSegment(), wakeUp.fd(), 1);
            } finally {
                wakeUp.exit();
            }
        }
    }

    /** Closes it and wakes a thread in {@link #await}. Watched descriptors stay open. Idempotent. */
    @Override
    public void close() {
        wakeUp();
        epoll.close();
        wakeUp.close();
    }
}
