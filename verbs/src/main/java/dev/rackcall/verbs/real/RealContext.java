package dev.rackcall.verbs.real;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

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
import dev.rackcall.verbs.ffi.CapturedErrno;
import dev.rackcall.verbs.ffi.IbvAsyncEvent;
import dev.rackcall.verbs.ffi.IbvDeviceAttr;
import dev.rackcall.verbs.ffi.IbvGid;
import dev.rackcall.verbs.ffi.IbvPortAttr;
import dev.rackcall.verbs.ffi.IbvQp;
import dev.rackcall.verbs.ffi.Libibverbs;
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
            Verb.zero(
                    Libibverbs.ibvQueryDevice(CapturedErrno.current(), open.pointer(), all.address()),
                    "querying the attributes of " + device);
            return new DeviceAttributes(
                    all.asSlice(IbvDeviceAttr.FW_VER, FIRMWARE_BYTES).getString(0),
                    IbvDeviceAttr.maxQp(all),
                    IbvDeviceAttr.maxQpWr(all),
                    IbvDeviceAttr.maxSge(all),
                    IbvDeviceAttr.maxCq(all),
                    IbvDeviceAttr.maxCqe(all),
                    IbvDeviceAttr.maxMr(all),
                    IbvDeviceAttr.maxQpRdAtom(all),
                    IbvDeviceAttr.maxSrq(all),
                    IbvDeviceAttr.physPortCnt(all) & 0xFF,
                    IbvDeviceAttr.atomicCap(all) != VerbsConstants.IBV_ATOMIC_NONE,
                    false);
        }
    }

    @Override
    public PortAttributes port(int port) {
        checkPort(port);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(IbvPortAttr.LAYOUT);
            Verb.zero(
                    Libibverbs.ibvQueryPort(CapturedErrno.current(), open.pointer(), (byte) port, all.address()),
                    "querying port " + port + " of " + device);
            return new PortAttributes(
                    PortState.ofCode(IbvPortAttr.state(all)),
                    Mtu.ofCode(IbvPortAttr.activeMtu(all)),
                    IbvPortAttr.lid(all) & 0xFFFF,
                    IbvPortAttr.gidTblLen(all),
                    Integer.toUnsignedLong(IbvPortAttr.maxMsgSz(all)),
                    IbvPortAttr.linkLayer(all) == VerbsConstants.IBV_LINK_LAYER_ETHERNET);
        }
    }

    @Override
    public Gid gid(int port, int index) {
        checkPort(port);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment gid = arena.allocate(IbvGid.LAYOUT);
            int result =
                    Libibverbs.ibvQueryGid(CapturedErrno.current(), open.pointer(), (byte) port, index, gid.address());
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
                open,
                Verb.pointer(
                        Libibverbs.ibvAllocPd(CapturedErrno.current(), open.pointer()),
                        "creating a protection domain on " + device));
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        return new RealCompletionChannel(
                open,
                Verb.pointer(
                        Libibverbs.ibvCreateCompChannel(CapturedErrno.current(), open.pointer()),
                        "creating a completion channel on " + device));
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
            Verb.zero(
                    Libibverbs.ibvGetAsyncEvent(CapturedErrno.current(), open.pointer(), event.address()),
                    "reading an event of " + device);
            AsyncEvent.Type type = AsyncEvent.Type.ofCode(IbvAsyncEvent.eventType(event));
            AsyncEvent result = new AsyncEvent(type, element(type, event));
            Libibverbs.ibvAckAsyncEvent(CapturedErrno.current(), event.address());
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
                    QP_LAST_WORK_REQUEST ->
                IbvQp.qpNum(MemorySegment.ofAddress(event.get(JAVA_LONG, IbvAsyncEvent.ELEMENT_QP))
                        .reinterpret(IbvQp.BYTES));
            case PORT_ACTIVE,
                    PORT_ERROR,
                    LID_CHANGE,
                    PKEY_CHANGE,
                    SUBNET_MANAGER_CHANGE,
                    CLIENT_REREGISTER,
                    GID_CHANGE -> IbvAsyncEvent.elementPortNum(event);
            default -> 0;
        };
    }

    @Override
    public void close() {
        open.close();
    }
}
