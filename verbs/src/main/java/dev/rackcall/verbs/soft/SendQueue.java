package dev.rackcall.verbs.soft;

import static dev.rackcall.verbs.soft.FrameLayout.PACKET_MASK;

import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Opcode;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.MemorySegment;

/**
 * The requester: send requests from posting to completion. Positions count requests: {@code done <= next <= posted}; between done and next
 * lies what was sent and not answered, between next and posted what was not sent. Everything is guarded by the queue pair's monitor.
 */
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

    private final SoftQueuePair owner;
    private final RequestWriter writer;
    private final SendSlot[] slots;
    private long posted;
    private long next;
    private long done;
    private long freed;
    /** Bytes of the request at {@code next} that are sent. */
    private long offset;

    private int firstPacket;
    private int reads;
    private int maxReads;
    private final Retries retries = new Retries();
    private long waitingSince;
    private CompletionStatus localFailure = CompletionStatus.SUCCESS;
    private final DcTarget target = new DcTarget();
    /** Where the requests without answers went; null before the first. */
    private volatile RequesterLink over;

    private RequesterLink queuedAt;

    SendQueue(SoftQueuePair owner, int capacity, int maxSegments, int maxInline) {
        this.owner = owner;
        writer = new RequestWriter(owner);
        slots = new SendSlot[capacity];
        for (int i = 0; i < capacity; i++) {
            slots[i] = new SendSlot(maxSegments, maxInline);
        }
    }

    void start(ReadyToSend attributes) {
        // Numbers go on from where an error of the send queue left them.
        firstPacket = attributes.firstPacket() - (int) posted;
        maxReads = attributes.maxReadAtomic();
        retries.start(attributes);
    }

    boolean isFull() {
        return posted - freed == slots.length;
    }

    void post(WorkRequest request, long latency) {
        SendSlot slot = slot(posted);
        slot.set(request, (firstPacket + (int) posted) & PACKET_MASK);
        if (owner.type().isAddressedPerRequest()) {
            slot.setDestination(request);
        }
        if (latency > 0) {
            slot.due = System.nanoTime() + latency;
        }
        posted++;
    }

    boolean isEmpty() {
        return done == posted;
    }

    /** The connection for the next request. */
    RequesterLink way() {
        return owner.type().isAddressedPerRequest()
                ? slot(next).destination.link()
                : owner.peer().link();
    }

    boolean hasUnsent() {
        return next < posted;
    }

    /** Puts frames into the outbox as long as there are requests that may go over this connection. */
    Progress transmit(RequesterLink link, Outbox out) {
        while (hasUnsent() && owner.isSending() && !retries.isPaused() && localFailure == CompletionStatus.SUCCESS) {
            SendSlot slot = slot(next);
            RequesterLink way = way();
            if (isUnanswered() && (way != over || way != link)) {
                return Progress.IDLE;
            }
            if (way != link) {
                return Progress.ELSEWHERE;
            }
            over = link;
            if (offset == 0 && !mayStart(slot, link)) {
                return Progress.IDLE;
            }
            int payload = (int) Math.min(FrameLayout.MAX_PAYLOAD, slot.outgoing() - offset);
            if (!out.hasRoom(FrameLayout.REQUEST_BYTES + payload)) {
                return Progress.FULL;
            }
            if (writer.write(slot, offset, payload, target.isFirst(next), out)) {
                advance(slot, payload);
            } else {
                failLocally(CompletionStatus.LOCAL_PROTECTION_ERROR);
            }
        }
        return Progress.IDLE;
    }

    private boolean mayStart(SendSlot slot, RequesterLink link) {
        if (owner.type() == QueuePairType.DC_INITIATOR && !target.is(link, slot)) {
            // One target at a time: the answers of the last one must be there.
            if (isUnanswered()) {
                return false;
            }
            target.set(link, slot, next);
        }
        if ((slot.isFenced() && reads > 0) || (slot.opcode.isReadOrAtomic() && reads >= maxReads)) {
            return false;
        }
        if (slot.due != 0) {
            long early = slot.due - System.nanoTime();
            if (early > 0) {
                link.activateLater(this, early);
                return false;
            }
        }
        CompletionStatus problem = slot.problem(owner);
        if (problem != CompletionStatus.SUCCESS) {
            failLocally(problem);
            return false;
        }
        return true;
    }

    private void advance(SendSlot slot, int payload) {
        if (!isUnanswered()) {
            waitingSince = System.nanoTime();
        }
        offset += payload;
        if (offset < slot.outgoing()) {
            return;
        }
        offset = 0;
        next++;
        if (slot.opcode.isReadOrAtomic()) {
            reads++;
        }
        if (owner.type() == QueuePairType.UD) {
            // Nobody answers a datagram: it is done when it has left.
            finish();
        }
    }

    private boolean isUnanswered() {
        return done < next;
    }

    /** All requests up to this packet number are done. Answers to what is not under way are answers to a former life: ignored. */
    void acknowledged(int packet) {
        long position = position(packet);
        if (position < 0) {
            return;
        }
        finishBefore(position);
        if (!slot(position).opcode.isReadOrAtomic() && done == position) {
            finish();
            proceed();
        }
    }

    /** Part of what a READ asked for has come. */
    void data(int packet, int at, MemorySegment frame, long from, int length) throws ProtocolException {
        long position = position(packet);
        if (position < 0) {
            return;
        }
        SendSlot slot = slot(position);
        finishBefore(position);
        if (done > position) {
            return;
        }
        if (slot.opcode != Opcode.READ
                || at != slot.received
                || length > slot.length - slot.received
                || done < position) {
            throw new ProtocolException("unasked data: packet " + packet + ", offset " + at + ", " + length + " bytes");
        }
        if (!slot.list.store(owner.domain(), at, frame, from, length)) {
            fail(CompletionStatus.LOCAL_PROTECTION_ERROR);
            return;
        }
        slot.received += length;
        if (slot.received == slot.length) {
            finish();
        }
        proceed();
    }

    /** The old value of an atomic has come: the 8 bytes of the frame at this place, in this machine's order. */
    void value(int packet, MemorySegment frame, long from) throws ProtocolException {
        long position = position(packet);
        if (position < 0) {
            return;
        }
        finishBefore(position);
        SendSlot slot = slot(position);
        if (done > position) {
            return;
        }
        if (!slot.opcode.isAtomic() || done < position) {
            throw new ProtocolException("unasked value: packet " + packet);
        }
        if (slot.list.store(owner.domain(), 0, frame, from, Long.BYTES)) {
            finish();
            proceed();
        } else {
            fail(CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
    }

    /**
     * The responder did not do this request.
     *
     * @return nanoseconds after which to try again; negative if not
     */
    long refused(int packet, Refusal refusal, long detail) {
        long position = position(packet);
        if (position < 0 || retries.isPaused()) {
            return -1;
        }
        if (refusal == Refusal.NOT_READY_TO_RECEIVE) {
            finishBefore(position);
        } else if (refusal != Refusal.NO_ANSWER) {
            finishBefore(position);
            fail(refusal.status());
            return -1;
        }
        long pause = retries.pause(refusal, detail);
        if (pause < 0) {
            fail(refusal.status());
        } else {
            next = done;
            offset = 0;
            reads = 0;
        }
        return pause;
    }

    void resume() {
        retries.resume();
        waitingSince = System.nanoTime();
    }

    /** Gives up when the responder has been silent for too long. */
    boolean expire(long now) {
        boolean waits = false;
        for (long i = done; i < next && !waits; i++) {
            waits = slot(i).isAnswered();
        }
        if (waits && !retries.isPaused() && now - waitingSince > retries.patience()) {
            fail(CompletionStatus.RETRY_EXCEEDED);
            return true;
        }
        return false;
    }

    /** A connection ended; perhaps one that matters here. */
    void lost(RequesterLink link) {
        target.forget(link);
        if (owner.type() == QueuePairType.UD) {
            while (owner.isSending() && waitsFor(link)) {
                next++;
                finish();
            }
        } else if (isUnanswered() ? over == link : waitsFor(link)) {
            fail(CompletionStatus.RETRY_EXCEEDED);
        }
    }

    private boolean waitsFor(RequesterLink link) {
        if (!hasUnsent()) {
            return false;
        }
        return owner.type().isAddressedPerRequest()
                ? slot(next).destination.isOver(link)
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
        while (!isEmpty()) {
            complete(slot(done++), CompletionStatus.FLUSHED);
        }
        drop();
    }

    /** Forgets everything that is outstanding. */
    void drop() {
        done = posted;
        next = posted;
        freed = posted;
        offset = 0;
        reads = 0;
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
    private void proceed() {
        retries.succeeded();
        waitingSince = System.nanoTime();
        if (localFailure == CompletionStatus.SUCCESS) {
            return;
        }
        for (long i = done; i < next; i++) {
            if (slot(i).isAnswered()) {
                return;
            }
        }
        done = next;
        fail(localFailure);
    }

    private void fail(CompletionStatus status) {
        complete(slot(done++), status);
        owner.sendFailed();
    }

    private void finishBefore(long position) {
        while (done < position && !slot(done).opcode.isReadOrAtomic()) {
            finish();
        }
    }

    private void finish() {
        SendSlot slot = slot(done++);
        if (slot.opcode.isReadOrAtomic()) {
            reads--;
        }
        if (slot.isSignaled()) {
            complete(slot, CompletionStatus.SUCCESS);
            freed = done;
        }
    }

    private void complete(SendSlot slot, CompletionStatus status) {
        if (!owner.completed(slot, status) && owner.isSending()) {
            owner.completionLost();
        }
    }

    /** Of the request under way with this packet number; negative if there is none. */
    private long position(int packet) {
        int ahead = (packet - firstPacket - (int) done) & PACKET_MASK;
        return done + ahead < next ? done + ahead : -1;
    }

    private SendSlot slot(long position) {
        return slots[(int) (position % slots.length)];
    }
}
