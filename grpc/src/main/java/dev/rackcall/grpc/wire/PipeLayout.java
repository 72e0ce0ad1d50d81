package dev.rackcall.grpc.wire;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The memory of a connection: a page of control words, then two pipes.
 *
 * <pre>
 *      0  per end and pipe, each word on a line of its own:
 *         tail of the client's pipe     written by the client
 *    128  head of the client's pipe     written by the server
 *    256  tail of the server's pipe     written by the server
 *    384  head of the server's pipe     written by the client
 *    512  client asleep, 640 server asleep      (1: ring after publishing)
 *    768  client waits for room, 896 server waits for room
 *   2048  what each end tells observers, as {@link dev.rackcall.rpc.shm.notes.PipeNote} lays it out
 *   4096  the client's pipe, then the server's
 * </pre>
 *
 * <p>Ends that share no memory have such a memory each. An end's pipe, tail and head are carried into its peer's memory;
 * the words of sleep and of room are not.
 *
 * <p>Heads and tails count bytes since the beginning. Publishing is a release store to a tail, taking an acquire load
 * of it. An end that is about to sleep sets its word, fences, and checks once more; a peer that has published fences,
 * and then reads that word.
 */
final class PipeLayout {
    /** Large enough for a burst of small messages, and two of them fit into the 128 KiB that an idle connection may take. */
    static final int PIPE_BYTES = 32 * 1024;

    /** Longer payloads travel in several frames, so that both ends work at the same time. */
    static final int MAX_PAYLOAD = 8 * 1024;

    static final long FILE_BYTES = 4096 + 2L * PIPE_BYTES;

    private static final long LINE = 128;
    private static final long ASLEEP = 4 * LINE;
    private static final long WAITS = 6 * LINE;
    private static final long PIPES = 4096;

    private static final VarHandle LONG = JAVA_LONG.varHandle();
    private static final VarHandle INT = JAVA_INT.varHandle();

    /** The two ends of a connection, in the order of their words. */
    enum Side {
        CLIENT,
        SERVER;

        Side peer() {
            return this == CLIENT ? SERVER : CLIENT;
        }
    }

    private PipeLayout() {}

    /** Where the bytes begin that {@code writer} publishes. */
    static long pipe(Side writer) {
        return PIPES + (long) writer.ordinal() * PIPE_BYTES;
    }

    static long tailOffset(Side writer) {
        return 2 * LINE * writer.ordinal();
    }

    static long headOffset(Side writer) {
        return tailOffset(writer) + LINE;
    }

    /** Acquire: pairs with {@link #tail(MemorySegment, Side, long)}, so that the frames before it are visible. */
    static long tail(MemorySegment memory, Side writer) {
        return (long) LONG.getAcquire(memory, tailOffset(writer));
    }

    /** Release: pairs with the acquire load above. */
    static void tail(MemorySegment memory, Side writer, long tail) {
        LONG.setRelease(memory, tailOffset(writer), tail);
    }

    /** Acquire: pairs with {@link #head(MemorySegment, Side, long)}, so that the reader has copied what is overwritten. */
    static long head(MemorySegment memory, Side writer) {
        return (long) LONG.getAcquire(memory, headOffset(writer));
    }

    /** Release: pairs with the acquire load above. */
    static void head(MemorySegment memory, Side writer, long head) {
        LONG.setRelease(memory, headOffset(writer), head);
    }

    static void asleep(MemorySegment memory, Side side, boolean value) {
        INT.setOpaque(memory, ASLEEP + LINE * side.ordinal(), value ? 1 : 0);
    }

    static boolean isAsleep(MemorySegment memory, Side side) {
        return (int) INT.getOpaque(memory, ASLEEP + LINE * side.ordinal()) != 0;
    }

    /** Whether this thread is to ring the sleeping side: only the first of several does. */
    static boolean claimRing(MemorySegment memory, Side side) {
        return (int) INT.getOpaque(memory, ASLEEP + LINE * side.ordinal()) != 0
                && INT.compareAndSet(memory, ASLEEP + LINE * side.ordinal(), 1, 0);
    }

    static void waitsForRoom(MemorySegment memory, Side writer, boolean value) {
        INT.setOpaque(memory, WAITS + LINE * writer.ordinal(), value ? 1 : 0);
    }

    static boolean isWaitingForRoom(MemorySegment memory, Side writer) {
        return (int) INT.getOpaque(memory, WAITS + LINE * writer.ordinal()) != 0;
    }
}
