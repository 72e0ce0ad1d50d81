package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;

/** The requester: send requests from posting to completion. Everything but {@link #isOver} is guarded by the queue pair's monitor. */
final class SendQueue {
    /** What {@link #transmit} ended with. */
    enum Progress {
        /** Nothing more can go now; an answer, a timer or a post brings it back. */
        IDLE,
        /** The outbox is full. */
        FULL,
        /** The next request goes over another connection. */
        ELSEWHERE
    }

    /** Many times the pause between two settlements of a responder. */
    private static final long UNASKED_NANOS = 3_000_000_000L;

    private final SoftQueuePair owner;
    private final RequestWriter writer;
    private final SendRing ring;
    private int maxReads;
    private final Retries retries = new Retries();
    private long waitingSince;
    private CompletionStatus localFailure = CompletionStatus.SUCCESS;
    private final DcTarget target = new DcTarget();
    private final AnswerReader answers;
    /** Where the requests without answers went; null before the first. */
    private volatile RequesterLink over;

    private RequesterLink queuedAt;

    SendQueue(SoftQueuePair owner, int capacity, int maxSegments, int maxInline) {
        this.owner = owner;
        writer = new RequestWriter(owner);
        ring = new SendRing(capacity, maxSegments, maxInline);
        answers = new AnswerReader(this, ring, retries);
    }

    AnswerReader answers() {
        return answers;
    }

    void start(ReadyToSend attributes) {
        ring.numberFrom(attributes.firstPacket());
        maxReads = attributes.maxReadAtomic();
        retries.start(attributes);
    }

    /**
     * Takes a request, or ends it at once if the queue pair is in error.
     *
     * @return false if the queue is full
     */
    boolean offer(WorkRequest request) {
        request.requireFits(owner.spec(), owner.maxInline(), owner.number());
        switch (owner.state()) {
            case READY_TO_SEND -> {
                if (ring.isFull()) {
                    return false;
                }
                add(request);
            }
            case ERROR, SEND_QUEUE_ERROR -> owner.flushed(request);
            default ->
                throw new VerbsException(
                        "posting a send request to " + owner.type() + " queue pair " + owner.number() + " in state "
                                + owner.state(),
                        VerbsErrno.EINVAL,
                        "bring it to READY_TO_SEND first");
        }
        return true;
    }

    private void add(WorkRequest request) {
        SendSlot slot = ring.add(request);
        if (owner.type().isAddressedPerRequest()) {
            slot.setDestination(request);
        }
        long latency = owner.domain().context().faults().latencyNanos();
        if (latency > 0) {
            slot.due = System.nanoTime() + latency;
        }
    }

    /** The connection for the next request. */
    RequesterLink way() {
        return owner.type().isAddressedPerRequest()
                ? ring.toSend().destination.link()
                : owner.peer().link();
    }

    boolean hasUnsent() {
        return ring.hasUnsent();
    }

    /** Puts frames into the outbox as long as there are requests that may go over this connection. */
    Progress transmit(RequesterLink link, Outbox out) {
        while (hasUnsent() && owner.isSending() && !retries.isPaused() && localFailure == CompletionStatus.SUCCESS) {
            SendSlot slot = ring.toSend();
            RequesterLink way = way();
            if (ring.isUnanswered() && (way != over || way != link)) {
                return Progress.IDLE;
            }
            if (way != link) {
                return Progress.ELSEWHERE;
            }
            over = link;
            if (ring.offset() == 0 && !mayStart(slot, link)) {
                return Progress.IDLE;
            }
            int payload = (int) Math.min(FrameLayout.MAX_PAYLOAD, slot.outgoing() - ring.offset());
            if (!out.hasRoom(FrameLayout.REQUEST_BYTES + payload)) {
                return Progress.FULL;
            }
            if (writer.write(slot, ring.offset(), payload, target.isFirst(ring.next()), out)) {
                advance(payload);
            } else {
                failLocally(CompletionStatus.LOCAL_PROTECTION_ERROR);
            }
        }
        return Progress.IDLE;
    }

    private boolean mayStart(SendSlot slot, RequesterLink link) {
        if (owner.type() == QueuePairType.DC_INITIATOR && !target.is(link, slot)) {
            // One target at a time: the answers of the last one must be there.
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
                link.activateLater(this, early);
                return false;
            }
        }
        slot.received = 0;
        CompletionStatus problem = slot.problem(owner);
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
        if (ring.sent(payload) && owner.type() == QueuePairType.UD) {
            // Nobody answers a datagram: it is done when it has left.
            finish();
        }
    }

    void resume() {
        retries.resume();
        waitingSince = System.nanoTime();
    }

    /**
     * Gives up when the responder has been silent for too long; longer for what it acknowledges only when its timer comes round.
     *
     * @param stood nanoseconds for which this device itself has done nothing, which say nothing about its peer
     */
    void expire(long now, long stood) {
        waitingSince += stood;
        boolean asked = owner.type() == QueuePairType.DC_INITIATOR || ring.awaitsAnswer();
        long silence = now - waitingSince - (asked ? 0 : UNASKED_NANOS);
        if (ring.isUnanswered() && !retries.isPaused() && silence > retries.patience()) {
            fail(CompletionStatus.RETRY_EXCEEDED);
        }
    }

    /** Everything that has no answer goes again, after a pause. */
    void rewind() {
        ring.rewind();
        // Found out anew when its turn comes again.
        localFailure = CompletionStatus.SUCCESS;
    }

    /** A connection ended; perhaps one that matters here. */
    void lost(RequesterLink link) {
        target.forget(link);
        if (owner.type() == QueuePairType.UD) {
            while (owner.isSending() && waitsFor(link)) {
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
        return owner.type().isAddressedPerRequest()
                ? ring.toSend().destination.isOver(link)
                : owner.peer().isOver(link);
    }

    SoftQueuePair owner() {
        return owner;
    }

    /** Whether this connection carries the requests that wait for answers. Any thread. */
    boolean isOver(RequesterLink link) {
        return over == link;
    }

    /** Whether it was not yet in that connection's row; it is now. With the row's monitor. */
    boolean queuedAt(RequesterLink link) {
        boolean fresh = queuedAt != link;
        queuedAt = link;
        return fresh;
    }

    /** It left a connection's row. */
    void dequeued() {
        queuedAt = null;
    }

    /** Ends everything that is outstanding, in order. */
    void flush() {
        while (!ring.isEmpty()) {
            complete(ring.end(), CompletionStatus.FLUSHED);
        }
        drop();
    }

    /** Forgets everything that is outstanding. */
    void drop() {
        ring.drop();
        localFailure = CompletionStatus.SUCCESS;
        retries.resume();
        target.clear();
        over = null;
    }

    private void failLocally(CompletionStatus status) {
        localFailure = status;
        proceed();
    }

    /** After answers: a request that failed here may fail now that those before it are done. */
    void proceed() {
        retries.succeeded();
        waitingSince = System.nanoTime();
        if (localFailure != CompletionStatus.SUCCESS && !ring.awaitsAnswer()) {
            ring.skipUnanswered();
            fail(localFailure);
        }
    }

    /** The oldest request failed, and with it the queue. */
    void fail(CompletionStatus status) {
        complete(ring.end(), status);
        owner.sendFailed();
    }

    /** The oldest request is done. */
    void finish() {
        SendSlot slot = ring.end();
        if (slot.isSignaled()) {
            complete(slot, CompletionStatus.SUCCESS);
            ring.free();
        }
    }

    private void complete(SendSlot slot, CompletionStatus status) {
        if (!owner.completed(slot, status) && owner.isSending()) {
            owner.completionLost();
        }
    }
}
