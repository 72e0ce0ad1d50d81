package dev.rackcall.verbs.soft.requester;

import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import dev.rackcall.verbs.soft.memory.DomainMemory;
import dev.rackcall.verbs.soft.queue.QueuePairCore;
import dev.rackcall.verbs.soft.queue.SoftCompletionQueue;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.SendBuffer;

/**
 * Send requests from posting to completion. Everything except {@link #isOver} is guarded by the queue pair's monitor.
 */
final class SendQueue {
    /** Additional patience for unsignaled requests: many times the interval at which a responder acknowledges them. */
    private static final long UNSIGNALED_NANOS = 3_000_000_000L;

    private final QueuePairCore core;
    private final SoftCompletionQueue completions;
    private final Sender sender;
    private final RequestWriter writer;
    private final SendRing ring;
    private int maxReads;
    private final Retries retries = new Retries();
    private long waitingSince;
    private CompletionStatus localFailure = CompletionStatus.SUCCESS;
    private final DcTarget target = new DcTarget();
    private final AnswerReader answers;
    /** The peer of an RC queue pair; null before it is connected. */
    private Destination peer;
    /** The link that carries the requests in flight; null before the first. */
    private volatile RequesterLink over;

    SendQueue(QueuePairCore core, SoftCompletionQueue completions, Sender sender) {
        this.core = core;
        this.completions = completions;
        this.sender = sender;
        QueuePairSpec spec = core.spec();
        writer = new RequestWriter(core);
        ring = new SendRing(spec.maxSends(), spec.maxSegments(), spec.maxInline());
        answers = new AnswerReader(this, ring, retries);
    }

    /** The current target of a DC initiator. */
    private static final class DcTarget {
        private RequesterLink link;
        private int queuePair;
        private long key;
        private long first;

        boolean is(RequesterLink other, SendSlot slot) {
            return link == other && queuePair == slot.destinationQueuePair && key == slot.destinationKey;
        }

        void set(RequesterLink newLink, SendSlot slot, long position) {
            link = newLink;
            queuePair = slot.destinationQueuePair;
            key = slot.destinationKey;
            first = position;
        }

        /** Whether the request at this position opens the conversation. */
        boolean isFirst(long position) {
            return position == first;
        }
    }

    AnswerReader answers() {
        return answers;
    }

    DomainMemory memory() {
        return core.memory();
    }

    void connect(Destination newPeer) {
        peer = newPeer;
    }

    void start(ReadyToSend attributes) {
        ring.numberFrom(attributes.firstPacket());
        maxReads = attributes.maxReadAtomic();
        retries.start(attributes);
    }

    /**
     * Takes a request, or flushes it at once if the queue pair is in an error state.
     *
     * @return false if the queue is full
     */
    boolean offer(WorkRequest request) {
        request.requireFits(core.spec(), core.spec().maxInline(), core.number());
        switch (core.state()) {
            case READY_TO_SEND -> {
                if (ring.isFull()) {
                    return false;
                }
                add(request);
            }
            case ERROR, SEND_QUEUE_ERROR -> {
                CompletionOpcode opcode = CompletionOpcode.of(request.opcode());
                completions.add(request.id(), CompletionStatus.FLUSHED, opcode, 0, core.number());
            }
            default ->
                throw new VerbsException(
                        "posting a send request to " + core.type() + " queue pair " + core.number() + " in state "
                                + core.state(),
                        VerbsErrno.EINVAL,
                        "bring it to READY_TO_SEND first");
        }
        return true;
    }

    private void add(WorkRequest request) {
        SendSlot slot = ring.add(request);
        if (core.type().isAddressedPerRequest()) {
            slot.setDestination(request);
        }
        long latency = core.device().faults().latencyNanos();
        if (latency > 0) {
            slot.due = System.nanoTime() + latency;
        }
    }

    RequesterLink nextLink() {
        return core.type().isAddressedPerRequest() ? ring.toSend().destination.link() : peer.link();
    }

    boolean hasUnsent() {
        return ring.hasUnsent();
    }

    /** Adds frames to the buffer while there are requests that may use this link. */
    Sender.Progress transmit(RequesterLink link, SendBuffer out) {
        while (hasUnsent() && core.isSending() && !retries.isPaused() && localFailure == CompletionStatus.SUCCESS) {
            SendSlot slot = ring.toSend();
            RequesterLink next = nextLink();
            if (ring.isUnanswered() && (next != over || next != link)) {
                return Sender.Progress.IDLE;
            }
            if (next != link) {
                return Sender.Progress.ELSEWHERE;
            }
            over = link;
            if (ring.offset() == 0 && !mayStart(slot, link)) {
                return Sender.Progress.IDLE;
            }
            int payload = (int) Math.min(FrameLayout.MAX_PAYLOAD, slot.outgoing() - ring.offset());
            if (!out.hasRoom(FrameLayout.REQUEST_BYTES + payload)) {
                return Sender.Progress.FULL;
            }
            if (writer.write(slot, ring.offset(), payload, target.isFirst(ring.next()), out)) {
                advance(payload);
            } else {
                failLocally(CompletionStatus.LOCAL_PROTECTION_ERROR);
            }
        }
        return Sender.Progress.IDLE;
    }

    private boolean mayStart(SendSlot slot, RequesterLink link) {
        if (core.type() == QueuePairType.DC_INITIATOR && !target.is(link, slot)) {
            // One target at a time: all answers of the last one must have arrived.
            if (ring.isUnanswered()) {
                return false;
            }
            target.set(link, slot, ring.next());
        }
        if ((slot.isFenced() && ring.reads() > 0) || (slot.opcode.isReadOrAtomic() && ring.reads() >= maxReads)) {
            return false;
        }
        if (slot.due != 0) {
            long early = slot.due - System.nanoTime();
            if (early > 0) {
                link.activateLater(sender, early);
                return false;
            }
        }
        slot.received = 0;
        CompletionStatus problem = slot.problem(core);
        if (problem != CompletionStatus.SUCCESS) {
            failLocally(problem);
            return false;
        }
        return true;
    }

    private void advance(int payload) {
        if (!ring.isUnanswered()) {
            waitingSince = System.nanoTime();
        }
        if (ring.sent(payload) && core.type() == QueuePairType.UD) {
            // Datagrams are not answered: they are done when they have left.
            finish();
        }
    }

    void resume() {
        retries.resume();
        waitingSince = System.nanoTime();
    }

    /**
     * Fails the queue if the responder has been silent for too long. Requests that it acknowledges only at intervals
     * get more time.
     */
    void expire(long now, long stood) {
        waitingSince += stood;
        boolean awaited = core.type() == QueuePairType.DC_INITIATOR || ring.awaitsAnswer();
        long silence = now - waitingSince - (awaited ? 0 : UNSIGNALED_NANOS);
        if (ring.isUnanswered() && !retries.isPaused() && silence > retries.patience()) {
            fail(CompletionStatus.RETRY_EXCEEDED);
        }
    }

    /** Sends everything unanswered again, after a pause. */
    void rewind() {
        ring.rewind();
        // The request is checked again before it is sent again.
        localFailure = CompletionStatus.SUCCESS;
    }

    /** Handles the end of a link. */
    void lost(RequesterLink link) {
        if (target.link == link) {
            target.link = null;
        }
        if (core.type() == QueuePairType.UD) {
            while (core.isSending() && waitsFor(link)) {
                finish();
            }
        } else if (ring.isUnanswered() ? over == link : waitsFor(link)) {
            fail(CompletionStatus.RETRY_EXCEEDED);
        }
    }

    private boolean waitsFor(RequesterLink link) {
        if (!hasUnsent()) {
            return false;
        }
        return core.type().isAddressedPerRequest() ? ring.toSend().destination.isOver(link) : peer.isOver(link);
    }

    /** Whether this link carries the requests in flight. Any thread. */
    boolean isOver(RequesterLink link) {
        return over == link;
    }

    /** Completes everything outstanding as flushed, in order. */
    void flush() {
        while (!ring.isEmpty()) {
            complete(ring.end(), CompletionStatus.FLUSHED);
        }
        drop();
    }

    /** Drops everything outstanding. */
    void drop() {
        ring.drop();
        localFailure = CompletionStatus.SUCCESS;
        retries.resume();
        target.link = null;
        over = null;
    }

    private void failLocally(CompletionStatus status) {
        localFailure = status;
        proceed();
    }

    /** Continues after answers. A request that failed locally ends once all requests before it are done. */
    void proceed() {
        retries.succeeded();
        waitingSince = System.nanoTime();
        if (localFailure != CompletionStatus.SUCCESS && !ring.awaitsAnswer()) {
            ring.skipUnanswered();
            fail(localFailure);
        }
    }

    /** Fails the oldest request, and with it the queue. The state changes first: a poller of the completion sees it. */
    void fail(CompletionStatus status) {
        SendSlot failed = ring.end();
        if (core.type() == QueuePairType.UD) {
            core.become(QueuePairState.SEND_QUEUE_ERROR);
            if (!report(failed, status)) {
                core.completionLost();
            }
            flush();
        } else {
            core.enterError(() -> {
                if (!report(failed, status)) {
                    core.reportLoss();
                }
            });
        }
    }

    /** Ends the oldest request as successful. */
    void finish() {
        SendSlot slot = ring.end();
        if (slot.isSignaled()) {
            complete(slot, CompletionStatus.SUCCESS);
            ring.free();
        }
    }

    private void complete(SendSlot slot, CompletionStatus status) {
        if (!report(slot, status) && core.isSending()) {
            core.completionLost();
        }
    }

    /** False if the completion was lost. */
    private boolean report(SendSlot slot, CompletionStatus status) {
        int bytes = (int) Math.min(slot.length, Integer.MAX_VALUE);
        return completions.add(slot.id, status, slot.completion(), bytes, core.number());
    }
}
