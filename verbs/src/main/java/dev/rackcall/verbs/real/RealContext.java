package dev.rackcall.verbs.real;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.rackcall.verbs.AsyncEvent;
import dev.rackcall.verbs.CompletionChannel;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.DeviceAttributes;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.Mtu;
import dev.rackcall.verbs.PortAttributes;
import dev.rackcall.verbs.PortState;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.ffi.Libibverbs;
import dev.rackcall.verbs.ffi.Structs.IbvAsyncEvent;
import dev.rackcall.verbs.ffi.Structs.IbvDeviceAttr;
import dev.rackcall.verbs.ffi.Structs.IbvGid;
import dev.rackcall.verbs.ffi.Structs.IbvPortAttr;
import dev.rackcall.verbs.ffi.VerbsConstants;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;

/** A struct ibv_context. */
final class RealContext implements Context {
    private static final int FIRMWARE_BYTES = 64;
    private static final int MAX_PORTS = 255;

    private final Device device;
    private final NativeContext open;

    RealContext(Device device, NativeContext open) {
        this.device = device;
        this.open = open;
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceAttributes attributes() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(IbvDeviceAttr.LAYOUT);
            Verb.zero(Libibverbs.ibvQueryDevice(open.pointer(), all.address()), "querying the attributes of " + device);
            return new DeviceAttributes(
                    all.asSlice(IbvDeviceAttr.FW_VER, FIRMWARE_BYTES).getString(0),
                    IbvDeviceAttr.MAX_QP.get(all),
                    IbvDeviceAttr.MAX_QP_WR.get(all),
                    IbvDeviceAttr.MAX_SGE.get(all),
                    IbvDeviceAttr.MAX_CQ.get(all),
                    IbvDeviceAttr.MAX_CQE.get(all),
                    IbvDeviceAttr.MAX_MR.get(all),
                    IbvDeviceAttr.MAX_QP_RD_ATOM.get(all),
                    IbvDeviceAttr.MAX_SRQ.get(all),
                    IbvDeviceAttr.PHYS_PORT_CNT.get(all) & 0xFF,
                    IbvDeviceAttr.ATOMIC_CAP.get(all) != VerbsConstants.IBV_ATOMIC_NONE,
                    false);
        }
    }

    @Override
    public PortAttributes port(int port) {
        checkPort(port);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(IbvPortAttr.LAYOUT);
            Verb.zero(
                    Libibverbs.ibvQueryPort(open.pointer(), (byte) port, all.address()),
                    "querying port " + port + " of " + device);
            return new PortAttributes(
                    PortState.ofCode(IbvPortAttr.STATE.get(all)),
                    Mtu.ofCode(IbvPortAttr.ACTIVE_MTU.get(all)),
                    IbvPortAttr.LID.get(all) & 0xFFFF,
                    IbvPortAttr.GID_TBL_LEN.get(all),
                    Integer.toUnsignedLong(IbvPortAttr.MAX_MSG_SZ.get(all)),
                    IbvPortAttr.LINK_LAYER.get(all) == VerbsConstants.IBV_LINK_LAYER_ETHERNET);
        }
    }

    @Override
    public Gid gid(int port, int index) {
        checkPort(port);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment gid = arena.allocate(IbvGid.LAYOUT);
            int result = Libibverbs.ibvQueryGid(open.pointer(), (byte) port, index, gid.address());
            // Some kernels report an unused entry as an error.
            return result == 0 ? Gid.of(gid.toArray(JAVA_BYTE)) : Gid.NONE;
        }
    }

    private void checkPort(int port) {
        if (port < 1 || port > MAX_PORTS) {
            throw new VerbsException("port " + port + " of " + device, VerbsErrno.EINVAL, "ports are numbered from 1");
        }
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        return new RealProtectionDomain(
                open, Verb.pointer(Libibverbs.ibvAllocPd(open.pointer()), "creating a protection domain on " + device));
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        return new RealCompletionChannel(
                open,
                Verb.pointer(
                        Libibverbs.ibvCreateCompChannel(open.pointer()), "creating a completion channel on " + device));
    }

    @Override
    public CompletionQueue createCompletionQueue(CompletionQueueSpec spec) {
        return RealCompletionQueue.create(open, spec);
    }

    @Override
    public Optional<AsyncEvent> awaitEvent(Duration atMost) {
        return Descriptors.read(open.eventDescriptor(), open.reading(), atMost, () -> Optional.of(readEvent()));
    }

    private AsyncEvent readEvent() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(IbvAsyncEvent.LAYOUT);
            Verb.zero(Libibverbs.ibvGetAsyncEvent(open.pointer(), event.address()), "reading an event of " + device);
            AsyncEvent.Type type = AsyncEvent.Type.ofCode(IbvAsyncEvent.EVENT_TYPE.get(event));
            AsyncEvent result = new AsyncEvent(type, element(type, event));
            Libibverbs.ibvAckAsyncEvent(event.address());
            return result;
        }
    }

    private static int element(AsyncEvent.Type type, MemorySegment event) {
        return switch (type) {
            case QP_FATAL,
                    QP_REQUEST_ERROR,
                    QP_ACCESS_ERROR,
                    COMMUNICATION_ESTABLISHED,
                    SEND_QUEUE_DRAINED,
                    PATH_MIGRATED,
                    PATH_MIGRATION_ERROR,
                    QP_LAST_WORK_REQUEST -> RealQueuePair.number(IbvAsyncEvent.ELEMENT_QP.get(event));
            case PORT_ACTIVE,
                    PORT_ERROR,
                    LID_CHANGE,
                    PKEY_CHANGE,
                    SUBNET_MANAGER_CHANGE,
                    CLIENT_REREGISTER,
                    GID_CHANGE -> IbvAsyncEvent.ELEMENT_PORT_NUM.get(event);
            default -> 0;
        };
    }

    @Override
    public void close() {
        open.close();
    }
}
