package dev.rackcall.verbs.soft.responder;

import static dev.rackcall.verbs.soft.wire.FrameLayout.INT;

import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.soft.queue.QueuePairCore;
import dev.rackcall.verbs.soft.queue.SoftCompletionQueue;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** The receiving half of a queue pair: its receive requests, their completions, and handlers of incoming requests. */
public final class ReceiveSide {
    /** The global routing header of a datagram: the sender's GID at 8, the receiver's at 24. */
    private static final int HEADER_BYTES = 40;

    private static final int SENDER = 8;
    private static final int RECEIVER = 24;

    private final QueuePairCore core;
    private final SoftCompletionQueue completions;
    private final Optional<SoftSharedReceiveQueue> shared;
    private final ReceiveRing ring;
    private final ReceiveSlot flushing;
    /** Serves an RC queue pair's peer; a DC target has one responder for each initiator instead. */
    private final Responder responder;

    private final ReceiveSlot datagram;
    private final MemorySegment header = Arena.ofAuto().allocate(HEADER_BYTES);

    public ReceiveSide(QueuePairCore core) {
        QueuePairSpec spec = core.spec();
        this.core = core;
        completions = (SoftCompletionQueue) spec.receiveQueue();
        shared = spec.shared().map(SoftSharedReceiveQueue.class::cast);
        ring = shared.isPresent() ? shared.get().ring() : new ReceiveRing(spec.maxReceives(), spec.maxSegments());
        flushing = ring.newSlot();
        responder = new Responder(core, this);
        datagram = ring.newSlot();
    }

    public void attach() {
        completions.users().add();
        shared.ifPresent(queue -> queue.users().add());
    }

    public void detach() {
        completions.users().remove();
        shared.ifPresent(queue -> queue.users().remove());
    }

    QueuePairCore core() {
        return core;
    }

    /** Posts a receive request; false if the ring is full. With the monitor. */
    public boolean post(ReceiveRequest request) {
        return ring.post(request);
    }

    ReceiveRing ring() {
        return ring;
    }

    Responder responder() {
        return responder;
    }

    public void start(int firstPacket) {
        responder.start(firstPacket);
    }

    /** Completes a receive request; false if the completion was lost. */
    boolean complete(
            ReceiveSlot slot,
            CompletionStatus status,
            boolean write,
            long bytes,
            int flags,
            int immediate,
            int source) {
        CompletionOpcode opcode = write ? CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE : CompletionOpcode.RECEIVE;
        return completions.add(slot.id(), status, opcode, (int) bytes, core.number(), flags, immediate, source);
    }

    /** Completes a receive request that failed; false if the completion was lost. */
    boolean complete(ReceiveSlot slot, CompletionStatus failure) {
        return complete(slot, failure, false, 0, 0, 0, 0);
    }

    public void flush(long id) {
        completions.add(id, CompletionStatus.FLUSHED, CompletionOpcode.RECEIVE, 0, core.number());
    }

    /**
     * Flushes all requests in order, first the one being filled. A shared queue keeps its requests for other queue
     * pairs.
     */
    public void flush() {
        responder.stop();
        if (shared.isEmpty()) {
            while (ring.take(flushing)) {
                flush(flushing.id());
            }
        }
    }

    public void drop() {
        responder.drop();
        if (shared.isEmpty()) {
            ring.clear();
        }
    }

    /**
     * Stores a header and the datagram into a receive request. Drops the datagram if no receive request is posted, its
     * queue key is wrong, or it is too long.
     */
    void datagram(MemorySegment frame, long at, int payload, Gid sender) {
        int length = frame.get(INT, at + FrameLayout.MESSAGE_LENGTH);
        boolean whole = frame.get(INT, at + FrameLayout.OFFSET) == 0 && length == payload;
        // The key of a datagram travels where a WRITE has its region's key.
        boolean accepted = whole
                && core.queueKey() == frame.get(INT, at + FrameLayout.REMOTE_KEY)
                && payload <= core.maxMessageBytes();
        boolean kept;
        synchronized (datagram) {
            kept = !accepted || !ring.take(datagram) || deliver(frame, at, payload, sender);
        }
        if (!kept) {
            core.completionLost();
        }
    }

    /** Returns false if the completion was lost. */
    private boolean deliver(MemorySegment frame, long at, int payload, Gid sender) {
        if (datagram.bytes() < HEADER_BYTES + payload) {
            return complete(datagram, CompletionStatus.LOCAL_LENGTH_ERROR);
        }
        putGid(SENDER, sender);
        putGid(RECEIVER, core.device().gid());
        if (!datagram.store(core.memory(), 0, header, 0, HEADER_BYTES)
                || !datagram.store(core.memory(), HEADER_BYTES, frame, at + FrameLayout.REQUEST_BYTES, payload)) {
            return complete(datagram, CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
        return complete(
                datagram,
                CompletionStatus.SUCCESS,
                false,
                HEADER_BYTES + (long) payload,
                FrameLayout.flags(frame, at),
                frame.get(INT, at + FrameLayout.IMMEDIATE),
                frame.get(INT, at + FrameLayout.SOURCE));
    }

    private void putGid(int at, Gid gid) {
        FrameLayout.networkLong(header, at, gid.high());
        FrameLayout.networkLong(header, at + Long.BYTES, gid.low());
    }
}
