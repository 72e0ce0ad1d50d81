package dev.rackcall.verbs.real;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

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
import dev.rackcall.verbs.ffi.ContextOperations;
import dev.rackcall.verbs.ffi.Libibverbs;
import dev.rackcall.verbs.ffi.Structs.IbvQp;
import dev.rackcall.verbs.ffi.Structs.IbvQpInitAttr;
import dev.rackcall.verbs.ffi.VerbsConstants;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/** A struct ibv_qp. */
final class RealQueuePair extends NativeObject implements QueuePair {
    private final QueuePairSpec spec;
    private final int number;
    private final int maxInline;
    private final StateChange change;
    private final MemorySegment bad = Arena.ofAuto().allocate(JAVA_LONG);
    /** The state that the program chose last; the device may have entered an error state since. */
    private volatile QueuePairState chosenState = QueuePairState.RESET;

    private RealQueuePair(NativeContext device, QueuePairSpec spec, long pointer, int maxInline) {
        super(device, pointer, "queue pair " + number(pointer));
        this.spec = spec;
        this.maxInline = maxInline;
        number = number(pointer);
        change = new StateChange(pointer, number, spec.type());
    }

    static RealQueuePair create(NativeContext device, long domain, QueuePairSpec spec) {
        if (spec.type() == QueuePairType.DC_INITIATOR || spec.type() == QueuePairType.DC_TARGET) {
            throw new VerbsException(
                    "creating a " + spec.type() + " queue pair on " + device.name(),
                    VerbsErrno.EOPNOTSUPP,
                    "only the software device has dynamically connected queue pairs; use RC");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = arena.allocate(IbvQpInitAttr.LAYOUT);
            IbvQpInitAttr.SEND_CQ.set(wanted, ((RealCompletionQueue) spec.sendQueue()).pointer());
            IbvQpInitAttr.RECV_CQ.set(wanted, ((RealCompletionQueue) spec.receiveQueue()).pointer());
            spec.shared().ifPresent(queue -> IbvQpInitAttr.SRQ.set(wanted, ((RealSharedReceiveQueue) queue).pointer()));
            IbvQpInitAttr.CAP_MAX_SEND_WR.set(wanted, spec.maxSends());
            IbvQpInitAttr.CAP_MAX_RECV_WR.set(wanted, spec.maxReceives());
            IbvQpInitAttr.CAP_MAX_SEND_SGE.set(wanted, spec.maxSegments());
            IbvQpInitAttr.CAP_MAX_RECV_SGE.set(wanted, spec.maxSegments());
            IbvQpInitAttr.CAP_MAX_INLINE_DATA.set(wanted, spec.maxInline());
            IbvQpInitAttr.QP_TYPE.set(
                    wanted, spec.type() == QueuePairType.RC ? VerbsConstants.IBV_QPT_RC : VerbsConstants.IBV_QPT_UD);
            long made = Verb.pointer(
                    Libibverbs.ibvCreateQp(domain, wanted.address()),
                    "creating a queue pair of " + spec.maxSends() + " sends, " + spec.maxReceives() + " receives, "
                            + spec.maxSegments() + " segments, " + spec.maxInline() + " bytes inline");
            return new RealQueuePair(device, spec, made, IbvQpInitAttr.CAP_MAX_INLINE_DATA.get(wanted));
        }
    }

    /** The number of the queue pair with this struct ibv_qp. */
    static int number(long pointer) {
        return IbvQp.QP_NUM.get(MemorySegment.ofAddress(pointer).reinterpret(IbvQp.BYTES));
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
        return chosenState == QueuePairState.RESET ? chosenState : change.current();
    }

    @Override
    public int maxInline() {
        return maxInline;
    }

    @Override
    public synchronized void toInit(InitAttributes attributes) {
        state().requireLeadsTo(QueuePairState.INIT, type(), number);
        change.toInit(attributes);
        chosenState = QueuePairState.INIT;
    }

    @Override
    public synchronized void toReadyToReceive(ReadyToReceive attributes) {
        state().requireLeadsTo(QueuePairState.READY_TO_RECEIVE, type(), number);
        change.toReadyToReceive(attributes);
        chosenState = QueuePairState.READY_TO_RECEIVE;
    }

    @Override
    public synchronized void toReadyToSend(ReadyToSend attributes) {
        QueuePairState before = state();
        before.requireLeadsTo(QueuePairState.READY_TO_SEND, type(), number);
        change.toReadyToSend(attributes, before);
        chosenState = QueuePairState.READY_TO_SEND;
    }

    @Override
    public synchronized void toError() {
        state().requireLeadsTo(QueuePairState.ERROR, type(), number);
        change.to(QueuePairState.ERROR);
        chosenState = QueuePairState.ERROR;
    }

    @Override
    public synchronized void toReset() {
        change.to(QueuePairState.RESET);
        chosenState = QueuePairState.RESET;
    }

    @Override
    public boolean postSend(WorkRequest request) {
        check(request);
        return post(request) == 0;
    }

    @Override
    public int postSend(WorkRequest[] requests, int count) {
        // All of them first: a request that was refused must leave no chain behind in the others.
        for (int i = 0; i < count; i++) {
            check(requests[i]);
        }
        for (int i = 0; i < count; i++) {
            requests[i].nativeNext(i + 1 < count ? requests[i + 1].struct().address() : 0);
        }
        if (count == 0) {
            return 0;
        }
        synchronized (bad) {
            try {
                return post(requests[0]) == 0 ? count : position(requests, count);
            } finally {
                for (int i = 0; i < count; i++) {
                    requests[i].nativeNext(0);
                }
            }
        }
    }

    /** Number of requests of the list before the refused one. */
    private int position(WorkRequest[] requests, int count) {
        long refused = bad.get(JAVA_LONG, 0);
        int taken = 0;
        while (taken < count && requests[taken].struct().address() != refused) {
            taken++;
        }
        return taken;
    }

    private void check(WorkRequest request) {
        request.requireFits(spec, maxInline, number);
        QueuePairState now = chosenState;
        if (now == QueuePairState.RESET || now == QueuePairState.INIT || now == QueuePairState.READY_TO_RECEIVE) {
            throw new VerbsException(
                    "posting a send request to " + type() + " queue pair " + number + " in state " + now,
                    VerbsErrno.EINVAL,
                    "bring it to READY_TO_SEND first");
        }
        if (type() == QueuePairType.UD) {
            request.nativeDestination(((RealAddressHandle) request.destination().orElseThrow()).pointer());
        }
    }

    /** Returns 0, or ENOMEM if the queue is full. */
    private int post(WorkRequest first) {
        int result;
        try {
            result = ContextOperations.postSend(
                    device().postSend, pointer(), first.struct().address(), bad.address());
        } finally {
            Reference.reachabilityFence(first);
        }
        if (result != 0 && result != VerbsErrno.ENOMEM) {
            Verb.zero(result, "posting " + first.opcode() + " to queue pair " + number);
        }
        return result;
    }

    @Override
    public boolean postReceive(ReceiveRequest request) {
        if (spec.shared().isPresent()
                || chosenState == QueuePairState.RESET
                || request.segments() > spec.maxSegments()) {
            throw new VerbsException(
                    "posting a receive request of " + request.segments() + " segments to " + type() + " queue pair "
                            + number + " in state " + chosenState,
                    VerbsErrno.EINVAL,
                    "it takes them from INIT on, of " + spec.maxSegments()
                            + " segments at most, and none if it has a shared receive queue");
        }
        int result;
        try {
            result = ContextOperations.postRecv(
                    device().postReceive, pointer(), request.struct().address(), bad.address());
        } finally {
            Reference.reachabilityFence(request);
        }
        if (result == VerbsErrno.ENOMEM) {
            return false;
        }
        Verb.zero(result, "posting a receive request to queue pair " + number);
        if (chosenState == QueuePairState.ERROR) {
            // Some drivers flush only requests that are posted when the state changes to ERROR.
            change.to(QueuePairState.ERROR);
        }
        return true;
    }

    @Override
    int destroy() {
        return device().destroy(() -> Libibverbs.ibvDestroyQp(pointer()));
    }
}
