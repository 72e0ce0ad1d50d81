package dev.rackcall.cp.session;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** The tenant's end of its session's ring. Any thread may use it; each method returns false if there is no room. */
public final class EntryRing {
    private static final int UNKNOWN_OPCODE = -1;

    private final MemorySegment memory;
    private final SessionLayout layout;
    private long next;
    /** The agent's count of taken entries, as last read. */
    private long taken;

    public EntryRing(MemorySegment memory, SessionLayout layout) {
        this.memory = memory;
        this.layout = layout;
    }

    private boolean hasRoom() {
        if (next - taken < layout.entries()) {
            return true;
        }
        // Partner: SessionQueues.took.
        taken = (long) SessionLayout.LONG.getAcquire(memory, SessionLayout.TAKEN);
        return next - taken < layout.entries();
    }

    private void publish(long at, int kind, int place, long id) {
        memory.set(JAVA_INT, at + SessionLayout.KIND, kind);
        memory.set(JAVA_INT, at + SessionLayout.PLACE, place);
        memory.set(JAVA_LONG, at + SessionLayout.ID, id);
        next++;
        // Partner: SessionQueues.isNextThere.
        SessionLayout.LONG.setRelease(memory, at, next);
    }

    public synchronized boolean note(int kind, int place, long id) {
        if (!hasRoom()) {
            return false;
        }
        publish(layout.entry(next), kind, place, id);
        return true;
    }

    public synchronized boolean connect(int place, long id, HostId host, Optional<ControlAddress> address) {
        if (!hasRoom()) {
            return false;
        }
        long at = layout.entry(next);
        memory.set(JAVA_LONG, at + SessionLayout.REMOTE_ADDRESS, host.value());
        memory.set(JAVA_INT, at + SessionLayout.REMOTE_KEY, address.isPresent() ? 1 : 0);
        if (address.isPresent()) {
            memory.set(JAVA_LONG, at + SessionLayout.INLINE, address.get().gid().high());
            memory.set(
                    JAVA_LONG, at + SessionLayout.GID_LOW, address.get().gid().low());
            memory.set(JAVA_INT, at + SessionLayout.GID_NUMBER, address.get().number());
        }
        publish(at, SessionLayout.CONNECT, place, id);
        return true;
    }

    /** @param tells whether the agent rings the tenant after each message */
    public synchronized boolean bind(int place, long id, int port, boolean tells) {
        if (!hasRoom()) {
            return false;
        }
        long at = layout.entry(next);
        memory.set(JAVA_INT, at + SessionLayout.REMOTE_KEY, port);
        memory.set(JAVA_INT, at + SessionLayout.FLAGS, tells ? SessionLayout.TELLS : 0);
        publish(at, SessionLayout.BIND, place, id);
        return true;
    }

    public synchronized boolean give(int place, long id, long address, int length, int key) {
        if (!hasRoom()) {
            return false;
        }
        long at = layout.entry(next);
        memory.set(JAVA_LONG, at + SessionLayout.SEGMENT, address);
        memory.set(JAVA_INT, at + SessionLayout.SEGMENT + SessionLayout.SEGMENT_LENGTH, length);
        memory.set(JAVA_INT, at + SessionLayout.SEGMENT + SessionLayout.SEGMENT_KEY, key);
        publish(at, SessionLayout.GIVE, place, id);
        return true;
    }

    /**
     * Adds a request.
     *
     * @param first with {@code second}, the regions that a message names, or 0 for none; see {@code CheckedRequest}
     */
    public synchronized boolean push(int place, WorkRequest request, long first, long second) {
        if (!hasRoom()) {
            return false;
        }
        long at = layout.entry(next);
        write(at, request, first, second);
        publish(at, SessionLayout.REQUEST, place, request.id());
        return true;
    }

    /** Writes a request without checking it; the agent checks. */
    private void write(long at, WorkRequest request, long first, long second) {
        int opcode = opcode(request);
        int flags = request.flags();
        int segments = request.segments();
        memory.set(JAVA_INT, at + SessionLayout.OPCODE, opcode);
        memory.set(JAVA_INT, at + SessionLayout.FLAGS, flags);
        memory.set(JAVA_INT, at + SessionLayout.SEGMENTS, segments);
        if (opcode == UNKNOWN_OPCODE) {
            return;
        }
        memory.set(JAVA_LONG, at + SessionLayout.REMOTE_ADDRESS, request.remoteAddress());
        boolean isSent = request.opcode().hasImmediate();
        int key = isSent ? request.immediate() : request.remoteKey();
        memory.set(JAVA_INT, at + SessionLayout.REMOTE_KEY, key);
        memory.set(JAVA_LONG, at + SessionLayout.COMPARE, isSent ? first : request.compareOrAdd());
        memory.set(JAVA_LONG, at + SessionLayout.SWAP, isSent ? second : request.swap());
        for (int i = 0; i < Math.min(segments, SessionLayout.MAX_SEGMENTS); i++) {
            long segment = at + SessionLayout.SEGMENT + i * SessionLayout.SEGMENT_BYTES;
            memory.set(JAVA_LONG, segment, request.segmentAddress(i));
            memory.set(JAVA_INT, segment + SessionLayout.SEGMENT_LENGTH, request.segmentLength(i));
            memory.set(JAVA_INT, segment + SessionLayout.SEGMENT_KEY, request.segmentKey(i));
        }
        if ((flags & WorkRequest.INLINE) != 0 && segments > 0) {
            MemorySegment bytes = request.inlineMemory();
            long most = Math.min(bytes.byteSize(), SessionLayout.MAX_INLINE);
            long length = Math.clamp(request.segmentLength(0), 0, most);
            MemorySegment.copy(bytes, 0, memory, at + SessionLayout.INLINE, length);
        }
    }

    private static int opcode(WorkRequest request) {
        try {
            return request.opcode().code();
        } catch (ArrayIndexOutOfBoundsException unknown) {
            return UNKNOWN_OPCODE;
        }
    }
}
