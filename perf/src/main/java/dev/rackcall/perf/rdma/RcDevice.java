package dev.rackcall.perf.rdma;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** An open device, and what reliable queue pairs need of it. */
public final class RcDevice implements AutoCloseable {
    private final Context context;
    private final ProtectionDomain domain;
    private final Gid gid;
    private final int gidIndex;

    RcDevice(Device device) {
        context = device.open();
        domain = context.allocateProtectionDomain();
        gidIndex = indexOfGid(context);
        gid = context.gid(1, gidIndex);
    }

    /** Opens the run's device. */
    public static RcDevice open() {
        return new RcDevice(BenchDevice.get());
    }

    /** The IPv4 address if there is one: the others of an Ethernet device are not routed everywhere. */
    private static int indexOfGid(Context context) {
        int length = context.port(1).gidTableLength();
        for (int i = 0; i < length; i++) {
            if (context.gid(1, i).isIpv4()) {
                return i;
            }
        }
        return 0;
    }

    public CompletionQueue completions(CompletionQueueSpec spec) {
        return context.createCompletionQueue(spec);
    }

    public MemoryRegion register(MemorySegment memory, Set<Access> rights) {
        return domain.register(memory, rights);
    }

    /** A queue pair with an address for the peer, not connected yet. */
    public QueuePair queuePair(CompletionQueue completions, int sends, int receives) {
        return queuePair(QueuePairSpec.of(QueuePairType.RC, completions).withDepth(sends, receives));
    }

    /** A queue pair with an address for the peer, not connected yet. */
    public QueuePair queuePair(QueuePairSpec spec) {
        QueuePair made = domain.createQueuePair(spec);
        made.toInit(InitAttributes.connected());
        return made;
    }

    /** The address of a queue pair without memory. */
    public RcAddress address(QueuePair queuePair) {
        return new RcAddress(gid, queuePair.number(), 0, 0);
    }

    /** The address of a queue pair and of memory that the peer may use. */
    public RcAddress address(QueuePair queuePair, MemoryRegion region) {
        return new RcAddress(gid, queuePair.number(), region.address(), region.remoteKey());
    }

    /** Lets a queue pair receive from the peer. */
    public void receive(QueuePair queuePair, RcAddress peer) {
        queuePair.toReadyToReceive(ReadyToReceive.from(AddressVector.of(peer.gid(), gidIndex), peer.number()));
    }

    /** Lets a queue pair receive from the peer and send to it. */
    public void connect(QueuePair queuePair, RcAddress peer) {
        receive(queuePair, peer);
        // Gives up after 7 s (hardware) or 30 s (software), not half a second:
        // a busy host may keep an emulated peer from its processor.
        queuePair.toReadyToSend(ReadyToSend.defaults().withRetries(18, 6));
    }

    @Override
    public void close() {
        domain.close();
        context.close();
    }
}
