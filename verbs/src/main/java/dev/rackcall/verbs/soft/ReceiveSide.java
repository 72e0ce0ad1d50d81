package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.QueuePairSpec;
import java.util.Optional;

/** Where a queue pair's receive requests come from and where they complete. */
final class ReceiveSide {
    private final SoftQueuePair owner;
    private final SoftCompletionQueue completions;
    private final Optional<SoftSharedReceiveQueue> shared;
    private final ReceiveRing ring;
    private final ReceiveSlot flushing;
    /** Serves a connected peer; a DC target has one a peer instead. */
    private final Responder responder;

    private final DatagramReceiver datagrams;

    ReceiveSide(SoftQueuePair owner, QueuePairSpec spec) {
        this.owner = owner;
        completions = (SoftCompletionQueue) spec.receiveQueue();
        shared = spec.shared().map(SoftSharedReceiveQueue.class::cast);
        ring = shared.isPresent() ? shared.get().ring() : new ReceiveRing(spec.maxReceives(), spec.maxSegments());
        flushing = ring.newSlot();
        responder = new Responder(owner, this);
        datagrams = new DatagramReceiver(owner, this);
    }

    void attach() {
        completions.users().add();
        shared.ifPresent(queue -> queue.users().add());
    }

    void detach() {
        completions.users().remove();
        shared.ifPresent(queue -> queue.users().remove());
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

    void start(int firstPacket) {
        responder.start(firstPacket);
    }

    /** @return false if the completion got lost */
    boolean complete(
            ReceiveSlot slot,
            CompletionStatus status,
            boolean write,
            long bytes,
            int flags,
            int immediate,
            int source) {
        CompletionOpcode opcode = write ? CompletionOpcode.RECEIVE_WRITE_WITH_IMMEDIATE : CompletionOpcode.RECEIVE;
        return completions.add(slot.id(), status, opcode, (int) bytes, owner.number(), flags, immediate, source);
    }

    void flush(long id) {
        completions.add(id, CompletionStatus.FLUSHED, CompletionOpcode.RECEIVE, 0, owner.number());
    }

    /** Ends all requests, in order: first the one that is being filled. Those of a shared queue stay for others. */
    void flush() {
        responder.stop();
        if (shared.isEmpty()) {
            while (ring.take(flushing)) {
                flush(flushing.id());
            }
        }
    }

    void drop() {
        responder.drop();
        if (shared.isEmpty()) {
            ring.clear();
        }
    }
}
