package dev.rackcall.shm.os.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.file.Descriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.LongConsumer;

/**
 * A socket as a doorbell: a message of one byte has no content, a message of eight bytes is a number. Never blocks and
 * allocates nothing.
 */
final class SocketRings {
    private static final int FLAGS = LibcSockets.MSG_DONTWAIT | LibcSockets.MSG_NOSIGNAL;
    /** Bounds drain() if a peer rings endlessly. */
    static final int MAX_DRAIN = 1024;

    private static final MemorySegment DOORBELL = Arena.global().allocate(JAVA_BYTE);

    private SocketRings() {}

    static int send(Descriptor descriptor) {
        return send(descriptor, DOORBELL, 1);
    }

    static int send(Descriptor descriptor, long number) {
        MemorySegment scratch = CallState.current().scratch();
        scratch.set(JAVA_LONG, 0, number);
        return send(descriptor, scratch, Long.BYTES);
    }

    /** Returns 0 or the errno; EPIPE if this end is closed. */
    private static int send(Descriptor descriptor, MemorySegment bytes, long length) {
        if (!descriptor.tryEnter()) {
            return Errno.EPIPE;
        }
        try {
            CallState state = CallState.current();
            while (LibcSockets.send(state.errnoSegment(), descriptor.fd(), bytes, length, FLAGS) < 0) {
                if (state.errno() != Errno.EINTR) {
                    return state.errno();
                }
            }
            return 0;
        } finally {
            descriptor.exit();
        }
    }

    /**
     * See {@link UnixSocket#drain(LongConsumer)} and {@link UnixSocket#drainToRing}.
     *
     * @param mostRings after how many messages that are no numbers to stop
     */
    static int drain(Descriptor descriptor, LongConsumer numbers, int mostRings) {
        if (!descriptor.tryEnter()) {
            return -1;
        }
        try {
            CallState state = CallState.current();
            int rings = 0;
            int count = 0;
            while (count < MAX_DRAIN && rings < mostRings) {
                long length = LibcSockets.recv(
                        state.errnoSegment(), descriptor.fd(), state.scratch(), Long.BYTES, LibcSockets.MSG_DONTWAIT);
                if (length > 0) {
                    count++;
                    if (length == Long.BYTES) {
                        numbers.accept(state.scratch().get(JAVA_LONG, 0));
                    } else {
                        rings++;
                    }
                } else if (length < 0 && state.errno() == Errno.EAGAIN) {
                    return count;
                } else if (length == 0 || state.errno() != Errno.EINTR) {
                    return count == 0 ? -1 : count;
                }
            }
            return count;
        } finally {
            descriptor.exit();
        }
    }
}
