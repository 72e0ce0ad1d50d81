package dev.rackcall.verbs.real;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.ffi.Libibverbs;
import dev.rackcall.verbs.ffi.Structs.IbvQpAttr;
import dev.rackcall.verbs.ffi.Structs.IbvQpInitAttr;
import dev.rackcall.verbs.ffi.VerbsConstants;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** State changes by ibv_modify_qp(3), with the attributes that each needs. */
final class StateChange {
    private final long queuePair;
    private final int number;
    private final QueuePairType type;

    StateChange(long queuePair, int number, QueuePairType type) {
        this.queuePair = queuePair;
        this.number = number;
        this.type = type;
    }

    void toInit(InitAttributes init) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(IbvQpAttr.LAYOUT);
            IbvQpAttr.PKEY_INDEX.set(all, init.partitionKeyIndex());
            IbvQpAttr.PORT_NUM.set(all, init.port());
            IbvQpAttr.QP_ACCESS_FLAGS.set(all, Access.bits(init.rights()));
            IbvQpAttr.QKEY.set(all, init.queueKey());
            modify(
                    all,
                    QueuePairState.INIT,
                    VerbsConstants.IBV_QP_PKEY_INDEX
                            | VerbsConstants.IBV_QP_PORT
                            | (type == QueuePairType.UD
                                    ? VerbsConstants.IBV_QP_QKEY
                                    : VerbsConstants.IBV_QP_ACCESS_FLAGS));
        }
    }

    void toReadyToReceive(ReadyToReceive remote) {
        if (type == QueuePairType.UD) {
            to(QueuePairState.READY_TO_RECEIVE);
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(IbvQpAttr.LAYOUT);
            RealAddressHandle.write(remote.requirePath(number), all, IbvQpAttr.AH_ATTR_GRH_DGID_RAW);
            IbvQpAttr.PATH_MTU.set(all, remote.pathMtu().code());
            IbvQpAttr.DEST_QP_NUM.set(all, remote.peer());
            IbvQpAttr.RQ_PSN.set(all, remote.firstPacket());
            IbvQpAttr.MAX_DEST_RD_ATOMIC.set(all, remote.maxReadAtomic());
            IbvQpAttr.MIN_RNR_TIMER.set(all, remote.rnrTimer());
            modify(
                    all,
                    QueuePairState.READY_TO_RECEIVE,
                    VerbsConstants.IBV_QP_AV
                            | VerbsConstants.IBV_QP_PATH_MTU
                            | VerbsConstants.IBV_QP_DEST_QPN
                            | VerbsConstants.IBV_QP_RQ_PSN
                            | VerbsConstants.IBV_QP_MAX_DEST_RD_ATOMIC
                            | VerbsConstants.IBV_QP_MIN_RNR_TIMER);
        }
    }

    void toReadyToSend(ReadyToSend attributes, QueuePairState before) {
        if (before == QueuePairState.SEND_QUEUE_ERROR) {
            to(QueuePairState.READY_TO_SEND);
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(IbvQpAttr.LAYOUT);
            IbvQpAttr.SQ_PSN.set(all, attributes.firstPacket());
            IbvQpAttr.TIMEOUT.set(all, attributes.timeout());
            IbvQpAttr.RETRY_CNT.set(all, attributes.retries());
            IbvQpAttr.RNR_RETRY.set(all, attributes.rnrRetries());
            IbvQpAttr.MAX_RD_ATOMIC.set(all, attributes.maxReadAtomic());
            int connected = VerbsConstants.IBV_QP_TIMEOUT
                    | VerbsConstants.IBV_QP_RETRY_CNT
                    | VerbsConstants.IBV_QP_RNR_RETRY
                    | VerbsConstants.IBV_QP_MAX_QP_RD_ATOMIC;
            modify(
                    all,
                    QueuePairState.READY_TO_SEND,
                    VerbsConstants.IBV_QP_SQ_PSN | (type == QueuePairType.RC ? connected : 0));
        }
    }

    void to(QueuePairState state) {
        try (Arena arena = Arena.ofConfined()) {
            modify(arena.allocate(IbvQpAttr.LAYOUT), state, 0);
        }
    }

    private void modify(MemorySegment all, QueuePairState state, int mask) {
        IbvQpAttr.QP_STATE.set(all, state.code());
        Verb.zero(
                Libibverbs.ibvModifyQp(queuePair, all.address(), mask | VerbsConstants.IBV_QP_STATE),
                "changing " + type + " queue pair " + number + " to " + state);
    }

    /** The state that the device reports. */
    QueuePairState current() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(IbvQpAttr.LAYOUT);
            MemorySegment made = arena.allocate(IbvQpInitAttr.LAYOUT);
            Verb.zero(
                    Libibverbs.ibvQueryQp(queuePair, all.address(), VerbsConstants.IBV_QP_STATE, made.address()),
                    "querying the state of queue pair " + number);
            return QueuePairState.ofCode(IbvQpAttr.QP_STATE.get(all));
        }
    }
}
