package dev.rackcall.rpc.shm.notes;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * What one end of a gRPC connection tells observers: its process, and how many calls it has begun and ended. It lies in
 * the header page of the connection's memory, whose file is named after the channel. Thread-safe.
 *
 * <pre>
 *   2048  "RKPIPES1", written by both ends
 *   2176  of the client: pid, pid namespace, state, padding, calls ended, calls begun
 *   2304  of the server: the same
 * </pre>
 *
 * <p>Each end writes its own line only, so counting moves no cache line between processes. Ends that share no memory have
 * such a page each, in which the other line is empty.
 */
public final class PipeNote {
    /** How names of such memory begin; the channel follows. */
    public static final String NAME = "rackcall-grpc";

    /** Length of the header page. */
    public static final long PAGE_BYTES = 4096;

    private static final long PLACE = 2048;
    private static final long LINE = 128;
    private static final long MAGIC = 0x3153_4550_4950_4b52L;

    private static final long PID = 0;
    private static final long NAMESPACE = 4;
    private static final long STATE = 8;
    /** Before the calls begun: a copy, made from front to back, never has more calls ended than begun. */
    private static final long ENDED = 16;

    private static final long BEGUN = 24;

    private static final VarHandle INT = JAVA_INT.varHandle();
    private static final VarHandle LONG = JAVA_LONG.varHandle();

    private final MemorySegment memory;
    private final long line;
    /** What this end has written last. Not read from the memory, which the peer can write. Guarded by this note. */
    private int state;

    /**
     * What an end has written, which may be anything.
     *
     * @param process its pid is 0 if the end has not written
     * @param state 0: open, 1: draining, 2: ended
     * @param begun calls begun since the connection began
     * @param ended those of them that have ended
     */
    public record End(ProcessId process, int state, long begun, long ended) {}

    private PipeNote(MemorySegment memory, boolean isServer) {
        this.memory = memory;
        this.line = line(isServer);
    }

    private static long line(boolean isServer) {
        return PLACE + (isServer ? 2 : 1) * LINE;
    }

    /**
     * Names this process in the memory of its connection.
     *
     * @param memory begins with the header page; it may end before this object
     */
    public static PipeNote write(MemorySegment memory, boolean isServer) {
        PipeNote note = new PipeNote(memory, isServer);
        memory.set(JAVA_INT, note.line + NAMESPACE, ProcessId.current().namespace());
        memory.set(JAVA_INT, note.line + PID, ProcessId.current().pid());
        // Last: observers read by pread(2), and take a page without it as unwritten.
        LONG.setRelease(memory, PLACE, MAGIC);
        return note;
    }

    /** Counts a call that begins. */
    public void callBegins() {
        add(BEGUN);
    }

    /** Counts a call that ends. Those that end with their connection need not be counted. */
    public void callEnds() {
        add(ENDED);
    }

    private void add(long counter) {
        if (!memory.scope().isAlive()) {
            return;
        }
        try {
            // Any order would do. This is one instruction, while getAndAddRelease is a loop in JDK 25.
            var _ = (long) LONG.getAndAdd(memory, line + counter, 1L);
        } catch (IllegalStateException e) {
            // The connection has just ended, and no observer looks at it any more.
        }
    }

    /** The connection takes no more calls, and ends with the last one. Without effect once it has ended. */
    public void drains() {
        raise(1);
    }

    /** The connection has ended. Called before its memory is unmapped, which observers may hold for a while. */
    public void ends() {
        raise(2);
    }

    private synchronized void raise(int next) {
        if (next <= state) {
            return;
        }
        state = next;
        try {
            INT.setOpaque(memory, line + STATE, next);
        } catch (IllegalStateException e) {
            // As above.
        }
    }

    /** Whether an end has written to this header page. */
    public static boolean isAt(MemorySegment page) {
        return page.get(JAVA_LONG, PLACE) == MAGIC;
    }

    /** Whether the place of notes is empty in this header page. */
    public static boolean isUnwritten(MemorySegment page) {
        return page.get(JAVA_LONG, PLACE) == 0;
    }

    /** What an end has written to a copy of the header page. */
    public static End read(MemorySegment page, boolean isServer) {
        long line = line(isServer);
        return new End(
                new ProcessId(page.get(JAVA_INT, line + PID), page.get(JAVA_INT, line + NAMESPACE)),
                page.get(JAVA_INT, line + STATE),
                page.get(JAVA_LONG, line + BEGUN),
                page.get(JAVA_LONG, line + ENDED));
    }
}
