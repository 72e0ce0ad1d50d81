package dev.rackcall.verbs.soft.device;

import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
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
import dev.rackcall.verbs.soft.queue.QueuePairCore;
import dev.rackcall.verbs.soft.requester.Requester;
import dev.rackcall.verbs.soft.responder.ReceiveSide;

/**
 * A queue pair: a {@link Requester} and a {@link ReceiveSide} with common state. Its monitor is that of
 * {@link QueuePairCore}.
 */
final class SoftQueuePair implements QueuePair {
    private final SoftProtectionDomain domain;
    private final QueuePairCore core;
    private final Requester requester;
    private final ReceiveSide receiveSide;
    private boolean closed;

    SoftQueuePair(SoftProtectionDomain domain, QueuePairSpec spec, int number) {
        this.domain = domain;
        core = new QueuePairCore(domain.context().core(), domain.memory(), spec, number, this::flush);
        requester = new Requester(core, domain.context().requesters());
        receiveSide = new ReceiveSide(core);
    }

    /** Makes it visible to links. */
    void attach() {
        domain.children().add();
        requester.attach();
        receiveSide.attach();
        domain.context().queuePairs().put(number(), this);
    }

    Requester requester() {
        return requester;
    }

    ReceiveSide receiveSide() {
        return receiveSide;
    }

    /** The device to which it is connected; NONE if it is not. */
    Gid peer() {
        return core.peer();
    }

    private void flush() {
        requester.flush();
        receiveSide.flush();
    }

    @Override
    public int number() {
        return core.number();
    }

    @Override
    public QueuePairType type() {
        return core.type();
    }

    @Override
    public QueuePairState state() {
        return core.state();
    }

    @Override
    public int maxInline() {
        return core.spec().maxInline();
    }

    @Override
    public void toInit(InitAttributes attributes) {
        synchronized (core) {
            core.requireLeadsTo(QueuePairState.INIT);
            core.initialize(attributes);
            core.become(QueuePairState.INIT);
        }
    }

    @Override
    public void toReadyToReceive(ReadyToReceive attributes) {
        synchronized (core) {
            core.requireLeadsTo(QueuePairState.READY_TO_RECEIVE);
            Gid peer = Gid.NONE;
            if (type() == QueuePairType.RC) {
                AddressVector path = attributes.requirePath(number());
                requester.connect(path);
                peer = path.gid();
            }
            core.connect(attributes, peer);
            receiveSide.start(attributes.firstPacket());
            core.become(QueuePairState.READY_TO_RECEIVE);
        }
    }

    @Override
    public void toReadyToSend(ReadyToSend attributes) {
        synchronized (core) {
            core.requireLeadsTo(QueuePairState.READY_TO_SEND);
            requester.start(attributes);
            core.become(QueuePairState.READY_TO_SEND);
        }
    }

    @Override
    public void toError() {
        synchronized (core) {
            core.requireLeadsTo(QueuePairState.ERROR);
            core.enterError();
        }
    }

    @Override
    public void toReset() {
        // Before the responder drops pending acknowledgements, and without a monitor, since it sends.
        domain.context().responders().acknowledgePending();
        synchronized (core) {
            core.become(QueuePairState.RESET);
            requester.drop();
            receiveSide.drop();
        }
    }

    @Override
    public boolean postSend(WorkRequest request) {
        return requester.post(request);
    }

    @Override
    public int postSend(WorkRequest[] requests, int count) {
        return requester.post(requests, count);
    }

    @Override
    public boolean postReceive(ReceiveRequest request) {
        synchronized (core) {
            boolean shared = core.spec().shared().isPresent();
            QueuePairState state = core.state();
            if (shared || !type().receives() || state == QueuePairState.RESET) {
                throw new VerbsException(
                        "posting a receive request to " + type() + " queue pair " + number() + " in state " + state,
                        VerbsErrno.EINVAL,
                        shared
                                ? "post to its shared receive queue"
                                : "only queue pairs that receive take them, from INIT on");
            }
            if (state == QueuePairState.ERROR) {
                receiveSide.flush(request.id());
                return true;
            }
            return receiveSide.post(request);
        }
    }

    @Override
    public void close() {
        synchronized (core) {
            if (closed) {
                return;
            }
            closed = true;
        }
        toReset();
        domain.context().queuePairs().remove(number());
        receiveSide.detach();
        requester.detach();
        domain.children().remove();
    }
}
