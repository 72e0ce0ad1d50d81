package dev.rackcall.verbs.soft.responder;

import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.soft.queue.QueuePairCore;
import dev.rackcall.verbs.soft.queue.SoftCompletionQueue;
import java.util.Optional;

/** The receiving half of a queue pair: its receive requests, their completions, and what handles incoming requests. */
public final class ReceiveSide {
    private final QueuePairCore core;
    private final SoftCompletionQueue completions;
    private final Optional<SoftSharedReceiveQueue> shared;
    private final ReceiveRing ring;
    private final ReceiveSlot flushing;
    /** Serves an RC queue pair's peer; a DC target has one responder for each initiator instead. */
    private final Responder responder;

    private final DatagramReceiver datagrams;

    public ReceiveSide(QueuePairCore core) {
        QueuePairSpec spec = core.spec();
        this.core = core;
        completions = (SoftCompletionQueue) spec.receiveQueue();
        shared = spec.shared().map(SoftSharedReceiveQueue.class::cast);
        ring = shared.isPresent() ? shared.get().ring() : new ReceiveRing(spec.maxReceives(), spec.maxSegments());
        flushing = ring.newSlot();
        responder = new Responder(core, this);
        datagrams = new DatagramReceiver(core, this);
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

    DatagramReceiver datagrams() {
        return datagrams;
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

    public void flush(long id) {
        completions.add(id, CompletionStatus.FLUSHED, CompletionOpcode.RECEIVE, 0, core.number());
    }

    /** Flushes all requests, in order: first the one that is being filled. Those of a shared queue stay for others. */
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
}
