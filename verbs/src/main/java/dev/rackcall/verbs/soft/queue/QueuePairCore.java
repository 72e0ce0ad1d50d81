package dev.rackcall.verbs.soft.queue;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AsyncEvent;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.Mtu;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.soft.memory.DomainMemory;

/**
 * The state that the requester and the responder of a queue pair share. "The queue pair's monitor" is this object's.
 * Lock order: the queue pair's monitor, its responder's, then a receive ring's or a completion queue's. No lock is held
 * while a link sends, because the link also sends other queue pairs' requests.
 */
public final class QueuePairCore {
    private final DeviceCore device;
    private final DomainMemory memory;
    private final QueuePairSpec spec;
    private final int number;
    private final Runnable flush;
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile InitAttributes init = InitAttributes.connected();
    private volatile ReadyToReceive remote = ReadyToReceive.unconnected();
    private volatile Gid peer = Gid.NONE;

    /** @param flush completes all outstanding requests as flushed, with the monitor held */
    public QueuePairCore(DeviceCore device, DomainMemory memory, QueuePairSpec spec, int number, Runnable flush) {
        this.device = device;
        this.memory = memory;
        this.spec = spec;
        this.number = number;
        this.flush = flush;
    }

    public DeviceCore device() {
        return device;
    }

    public DomainMemory memory() {
        return memory;
    }

    public QueuePairSpec spec() {
        return spec;
    }

    public QueuePairType type() {
        return spec.type();
    }

    public int number() {
        return number;
    }

    public long maxMessageBytes() {
        return spec.type() == QueuePairType.UD ? Mtu.MTU_4096.bytes() : SoftLimits.MAX_MESSAGE_BYTES;
    }

    public QueuePairState state() {
        return state;
    }

    public boolean isSending() {
        return state == QueuePairState.READY_TO_SEND;
    }

    public boolean isReceiving() {
        QueuePairState now = state;
        return now == QueuePairState.READY_TO_RECEIVE
                || now == QueuePairState.READY_TO_SEND
                || now == QueuePairState.SEND_QUEUE_ERROR;
    }

    /** Checks that the program may change the state to {@code next}. With the monitor. */
    public void requireLeadsTo(QueuePairState next) {
        state.requireLeadsTo(next, spec.type(), number);
    }

    /** With the monitor. */
    public void become(QueuePairState next) {
        state = next;
    }

    /** With the monitor. */
    public void initialize(InitAttributes attributes) {
        SoftLimits.checkPort(attributes.port());
        init = attributes;
    }

    /** With the monitor. */
    public void connect(ReadyToReceive attributes, Gid peerDevice) {
        remote = attributes;
        peer = peerDevice;
    }

    public ReadyToReceive remote() {
        return remote;
    }

    public int queueKey() {
        return init.queueKey();
    }

    public boolean grants(Access right) {
        return init.rights().contains(right);
    }

    /** The device to which an RC queue pair is connected; NONE if it is not. */
    public Gid peer() {
        return isReceiving() ? peer : Gid.NONE;
    }

    public boolean isPeer(Gid peerDevice, int queuePair) {
        return peer.equals(peerDevice) && remote.peer() == queuePair;
    }

    /** Fails the queue pair, because its completion queue has overflowed. */
    public synchronized void completionLost() {
        if (state != QueuePairState.ERROR && state != QueuePairState.RESET) {
            reportLoss();
            enterError();
        }
    }

    /** Says that a completion was lost of a queue pair that is failing already. */
    public void reportLoss() {
        device.events().raise(AsyncEvent.Type.QP_FATAL, number);
    }

    /**
     * The peer did something that puts a connected queue pair into the error state.
     *
     * @param completeCause completes the request that the peer's message was to use
     */
    public synchronized void violated(AsyncEvent.Type how, Runnable completeCause) {
        if (isReceiving()) {
            device.events().raise(how, number);
            enterError(completeCause);
        } else if (state == QueuePairState.ERROR) {
            completeCause.run();
        }
    }

    /** With the monitor. */
    public void enterError() {
        enterError(() -> {});
    }

    /** Enters the error state, completes the request that caused it, and flushes the others. With the monitor. */
    public void enterError(Runnable completeCause) {
        if (state != QueuePairState.ERROR) {
            state = QueuePairState.ERROR;
            completeCause.run();
            flush.run();
        }
    }
}
