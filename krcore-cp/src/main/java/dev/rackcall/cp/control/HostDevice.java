package dev.rackcall.cp.control;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.SharedReceiveQueue;
import dev.rackcall.verbs.soft.SoftDevice;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An open device with one protection domain, and the objects created on it, which it closes in reverse order. Any
 * thread may use it.
 */
public final class HostDevice implements AutoCloseable {
    /** Three attempts of 67 ms: a silent peer delays all requests on the same queue pair. */
    private static final ReadyToSend PATIENCE =
            ReadyToSend.defaults().withRetries(14, 2).withRnrRetries(3);
    /**
     * Three attempts of 0.54 s. A software device's peers are processes, which may get no processor for a while on a busy
     * host. When one dies, its connection ends, and requests to it fail at once. Less than the 2 s for which a
     * connection over a virtual queue may accept nothing.
     */
    private static final ReadyToSend PATIENCE_WITH_PROCESSES = PATIENCE.withRetries(15, 2);

    private static final int PORT = 1;

    private final Context context;
    private final ProtectionDomain domain;
    private final int gidIndex;
    private final Gid gid;
    private final AtomicInteger queuePairs = new AtomicInteger();
    private final Deque<AutoCloseable> made = new ArrayDeque<>();

    /** @throws dev.rackcall.verbs.VerbsException if the device cannot be opened; ENETDOWN if its port is down */
    public HostDevice(Device device) {
        context = keep(device.open());
        try {
            requireUp();
            domain = keep(context.allocateProtectionDomain());
            gidIndex = usableGid();
            gid = context.gid(PORT, gidIndex);
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** @throws dev.rackcall.verbs.VerbsException ENETDOWN if the device's port is down */
    void requireUp() {
        context.requireUp(PORT);
    }

    private int usableGid() {
        int length = context.port(PORT).gidTableLength();
        for (int i = 0; i < length; i++) {
            if (context.gid(PORT, i).isIpv4()) {
                return i;
            }
        }
        return 0;
    }

    public synchronized <T extends AutoCloseable> T keep(T child) {
        made.push(child);
        return child;
    }

    /** Whether it has dynamically connected queue pairs. */
    public boolean isDynamic() {
        return context.attributes().dynamicallyConnected();
    }

    /** Whether it is hardware, not the software device. */
    public boolean isHardware() {
        return !context.device().name().startsWith(SoftDevice.PREFIX);
    }

    public Context context() {
        return context;
    }

    public ProtectionDomain domain() {
        return domain;
    }

    public Gid gid() {
        return gid;
    }

    /** Queue pairs that last as long as the device. */
    public int queuePairs() {
        return queuePairs.get();
    }

    AddressVector pathTo(Gid peer) {
        return AddressVector.of(peer, gidIndex);
    }

    public AddressHandle handleTo(Gid peer) {
        return domain.createAddressHandle(pathTo(peer));
    }

    public CompletionQueue polledQueue(int capacity) {
        return keep(
                context.createCompletionQueue(CompletionQueueSpec.of(capacity).polledBusily()));
    }

    QueuePair queuePair(QueuePairSpec spec) {
        QueuePair made = keep(domain.createQueuePair(spec));
        queuePairs.incrementAndGet();
        return made;
    }

    /** A DC target through which peers reach this host's memory regions. */
    public QueuePair target(
            int targetKey, EnumSet<Access> rights, CompletionQueue completions, SharedReceiveQueue receives) {
        QueuePair target = queuePair(QueuePairSpec.target(completions, receives, DcTarget.key(targetKey)));
        target.toInit(InitAttributes.connected(rights));
        target.toReadyToReceive(ReadyToReceive.unconnected());
        return target;
    }

    /** A DC target that takes no messages. */
    public QueuePair target(int targetKey, EnumSet<Access> rights) {
        CompletionQueue completions = keep(context.createCompletionQueue(CompletionQueueSpec.of(16)));
        return target(targetKey, rights, completions, keep(domain.createSharedReceiveQueue(1, 1)));
    }

    public QueuePair initiator(CompletionQueue completions, int depth, int segments, int inline) {
        QueuePair initiator = queuePair(QueuePairSpec.of(QueuePairType.DC_INITIATOR, completions)
                .withDepth(depth, 0)
                .withSegments(segments)
                .withInline(inline));
        startInitiator(initiator);
        return initiator;
    }

    /** Takes an initiator from RESET to READY_TO_SEND. */
    public void startInitiator(QueuePair initiator) {
        initiator.toInit(InitAttributes.connected());
        initiator.toReadyToReceive(ReadyToReceive.unconnected());
        initiator.toReadyToSend(patience());
    }

    /** How long a peer may be silent before the requests to it fail. */
    ReadyToSend patience() {
        return isHardware() ? PATIENCE : PATIENCE_WITH_PROCESSES;
    }

    @Override
    public synchronized void close() {
        closeAll(made);
    }

    /** Closes an object that throws no checked exceptions. */
    public static void close(AutoCloseable made) {
        try {
            made.close();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException("nothing here throws checked exceptions", e);
        }
    }

    /** Closes all in this order, even if some fail, and throws the first failure. */
    public static void closeAll(Deque<? extends AutoCloseable> made) {
        Optional<RuntimeException> failure = Optional.empty();
        while (!made.isEmpty()) {
            try {
                close(made.pop());
            } catch (RuntimeException e) {
                failure = failure.isPresent() ? failure : Optional.of(e);
            }
        }
        if (failure.isPresent()) {
            throw failure.get();
        }
    }
}
