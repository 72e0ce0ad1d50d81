package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.AsyncEvent;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.Mtu;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;

/**
 * States and posting. Locks are taken in this order, and none while another thread's traffic is moved: the queue pair's monitor, its
 * responder's, then a receive ring's or a completion queue's.
 */
final class SoftQueuePair implements QueuePair {
    private final SoftProtectionDomain domain;
    private final QueuePairSpec spec;
    private final int number;
    private final SoftCompletionQueue sendCompletions;
    private final ReceiveSide receiveSide;
    private final SendQueue send;
    private volatile QueuePairState state = QueuePairState.RESET;
    private final PeerPath peer;
    private boolean closed;

    SoftQueuePair(SoftProtectionDomain domain, QueuePairSpec spec, int number) {
        this.domain = domain;
        this.spec = spec;
        this.number = number;
        peer = new PeerPath(domain.context());
        sendCompletions = (SoftCompletionQueue) spec.sendQueue();
        receiveSide = new ReceiveSide(this, spec);
        send = new SendQueue(this, spec.maxSends(), spec.maxSegments(), spec.maxInline());
    }

    /** Others may find it from now on. */
    void attach() {
        domain.children().add();
        sendCompletions.users().add();
        receiveSide.attach();
        domain.context().queuePairs().put(number, this);
    }

    SoftProtectionDomain domain() {
        return domain;
    }

    QueuePairSpec spec() {
        return spec;
    }

    ReceiveSide receiveSide() {
        return receiveSide;
    }

    PeerPath peer() {
        return peer;
    }

    long maxMessageBytes() {
        return spec.type() == QueuePairType.UD ? Mtu.MTU_4096.bytes() : SoftLimits.MAX_MESSAGE_BYTES;
    }

    @Override
    public int number() {
        return number;
    }

    @Override
    public QueuePairType type() {
        return spec.type();
    }

    @Override
    public QueuePairState state() {
        return state;
    }

    boolean isSending() {
        return state == QueuePairState.READY_TO_SEND;
    }

    boolean isReceiving() {
        QueuePairState now = state;
        return now == QueuePairState.READY_TO_RECEIVE
                || now == QueuePairState.READY_TO_SEND
                || now == QueuePairState.SEND_QUEUE_ERROR;
    }

    @Override
    public int maxInline() {
        return spec.maxInline();
    }

    @Override
    public synchronized void toInit(InitAttributes attributes) {
        state.requireLeadsTo(QueuePairState.INIT, type(), number);
        peer.init(attributes);
        state = QueuePairState.INIT;
    }

    @Override
    public synchronized void toReadyToReceive(ReadyToReceive attributes) {
        state.requireLeadsTo(QueuePairState.READY_TO_RECEIVE, type(), number);
        if (type() == QueuePairType.RC) {
            peer.connect(attributes, number);
        }
        peer.remote(attributes);
        receiveSide.start(attributes.firstPacket());
        state = QueuePairState.READY_TO_RECEIVE;
    }

    @Override
    public synchronized void toReadyToSend(ReadyToSend attributes) {
        state.requireLeadsTo(QueuePairState.READY_TO_SEND, type(), number);
        send.start(attributes);
        state = QueuePairState.READY_TO_SEND;
    }

    @Override
    public synchronized void toError() {
        state.requireLeadsTo(QueuePairState.ERROR, type(), number);
        enterError();
    }

    @Override
    public void toReset() {
        // Before the responder forgets what it owes, and without a monitor, since it sends.
        domain.context().settle();
        synchronized (this) {
            state = QueuePairState.RESET;
            send.drop();
            receiveSide.drop();
        }
    }

    @Override
    public boolean postSend(WorkRequest request) {
        RequesterLink way;
        synchronized (this) {
            if (!send.offer(request)) {
                return false;
            }
            if (!send.hasUnsent()) {
                return true;
            }
            way = send.way();
        }
        push(way);
        return true;
    }

    @Override
    public int postSend(WorkRequest[] requests, int count) {
        int posted = 0;
        try {
            synchronized (this) {
                while (posted < count && send.offer(requests[posted])) {
                    posted++;
                }
            }
        } finally {
            pushUnsent();
        }
        return posted;
    }

    /** Moves what waits, over whatever connection the next request needs. Never called with a monitor held. */
    void pushUnsent() {
        RequesterLink way;
        synchronized (this) {
            if (!send.hasUnsent()) {
                return;
            }
            way = send.way();
        }
        push(way);
    }

    /** Moves what is unsent. Never called with a monitor held, since it moves other queue pairs' requests, too. */
    private void push(RequesterLink way) {
        if (way.isEnded()) {
            linkEnded(way);
        } else {
            way.activate(send);
            way.move();
        }
    }

    /** A request that is posted to a queue in error. */
    void flushed(WorkRequest request) {
        sendCompletions.add(request.id(), CompletionStatus.FLUSHED, CompletionOpcode.of(request.opcode()), 0, number);
    }

    @Override
    public synchronized boolean postReceive(ReceiveRequest request) {
        if (spec.shared().isPresent() || !type().receives() || state == QueuePairState.RESET) {
            throw new VerbsException(
                    "posting a receive request to " + type() + " queue pair " + number + " in state " + state,
                    VerbsErrno.EINVAL,
                    spec.shared().isPresent()
                            ? "post to its shared receive queue"
                            : "only queue pairs that receive take them, from INIT on");
        }
        if (state == QueuePairState.ERROR) {
            receiveSide.flush(request.id());
            return true;
        }
        return receiveSide.ring().post(request);
    }

    /** A send request ended. Returns false if its completion got lost. */
    boolean completed(SendSlot slot, CompletionStatus status) {
        int bytes = (int) Math.min(slot.length, Integer.MAX_VALUE);
        return sendCompletions.add(slot.id, status, slot.completion(), bytes, number);
    }

    /** The oldest send request failed; its completion is written. */
    void sendFailed() {
        if (type() == QueuePairType.UD) {
            state = QueuePairState.SEND_QUEUE_ERROR;
            send.flush();
        } else {
            enterError();
        }
    }

    /** A completion queue overflowed. */
    synchronized void completionLost() {
        if (state != QueuePairState.ERROR && state != QueuePairState.RESET) {
            domain.context().raise(new AsyncEvent(AsyncEvent.Type.QP_FATAL, number));
            enterError();
        }
    }

    /** The peer did something that a connected queue pair does not survive. */
    synchronized void violated(AsyncEvent.Type how) {
        if (isReceiving()) {
            domain.context().raise(new AsyncEvent(how, number));
            enterError();
        }
    }

    private void enterError() {
        if (state == QueuePairState.ERROR) {
            return;
        }
        state = QueuePairState.ERROR;
        send.flush();
        receiveSide.flush();
    }

    SendQueue sendQueue() {
        return send;
    }

    synchronized SendQueue.Progress transmit(RequesterLink link, Outbox out) {
        return send.transmit(link, out);
    }

    boolean expectsAnswersOver(RequesterLink link) {
        return type() != QueuePairType.UD && send.isOver(link);
    }

    /** The pause after a refusal is over. */
    void resume() {
        synchronized (this) {
            send.resume();
        }
        pushUnsent();
    }

    /** A connection ended: what was under way over it fails. */
    void linkEnded(RequesterLink link) {
        synchronized (this) {
            send.lost(link);
            if (!isSending()) {
                return;
            }
        }
        pushUnsent();
    }

    synchronized void expire(long now, long stood) {
        if (isSending()) {
            send.expire(now, stood);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        toReset();
        domain.context().queuePairs().remove(number);
        receiveSide.detach();
        sendCompletions.users().remove();
        domain.children().remove();
    }
}
