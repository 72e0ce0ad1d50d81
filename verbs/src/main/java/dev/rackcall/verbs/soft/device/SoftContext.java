package dev.rackcall.verbs.soft.device;

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
import dev.rackcall.verbs.Unreachable;
import dev.rackcall.verbs.soft.memory.KeyTable;
import dev.rackcall.verbs.soft.queue.DeviceCore;
import dev.rackcall.verbs.soft.queue.SoftCompletionChannel;
import dev.rackcall.verbs.soft.queue.SoftCompletionQueue;
import dev.rackcall.verbs.soft.queue.SoftLimits;
import dev.rackcall.verbs.soft.requester.Requester;
import dev.rackcall.verbs.soft.requester.RequesterLink;
import dev.rackcall.verbs.soft.requester.RequesterLinks;
import dev.rackcall.verbs.soft.responder.ReceiveSide;
import dev.rackcall.verbs.soft.responder.ResponderLinks;
import dev.rackcall.verbs.soft.wire.Faults;
import dev.rackcall.verbs.soft.wire.Links;
import dev.rackcall.verbs.soft.wire.Network;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** An open software device: its queue pairs and its links to other devices. */
public final class SoftContext implements Context, Faults.Target {
    private static final long EXPIRY_NANOS = 100_000_000;

    private final Device device;
    private final Network network;
    private final DeviceCore core;
    private final KeyTable<SoftQueuePair> queuePairs = new KeyTable<>(SoftLimits.MAX_QUEUE_PAIRS, 24);
    private final RequesterLinks requesters;
    private final ResponderLinks responders;
    /** When the silence of peers was checked last. Used only by the event loop. */
    private long lastExpiry = System.nanoTime();

    private SoftContext(Device device, Network network, int maxPeers, Faults faults) {
        this.device = device;
        this.network = network;
        core = new DeviceCore(device.name(), new Links(network.eventLoop()), faults);
        requesters = new RequesterLinks(core, network, this::requester, this::ended);
        responders = new ResponderLinks(core, maxPeers, new NumberedQueuePairs(queuePairs), this::connectedPeers);
    }

    /** Opens a device that listens at this address. The device closes the network, even if it cannot listen. */
    public static SoftContext open(
            Device device, Network network, InetSocketAddress address, byte[] publicKey, int maxPeers, Faults faults) {
        SoftContext context = new SoftContext(device, network, maxPeers, faults);
        try {
            context.core.listensAt(network.listen(address, context.responders::accept), publicKey);
        } catch (RuntimeException e) {
            network.close();
            throw e;
        }
        faults.attach(context);
        context.core.links().later(context::expire, EXPIRY_NANOS);
        return context;
    }

    DeviceCore core() {
        return core;
    }

    RequesterLinks requesters() {
        return requesters;
    }

    ResponderLinks responders() {
        return responders;
    }

    KeyTable<SoftQueuePair> queuePairs() {
        return queuePairs;
    }

    private Requester requester(int number) {
        SoftQueuePair queuePair = queuePairs.get(number);
        return queuePair == null ? null : queuePair.requester();
    }

    private Set<Gid> connectedPeers() {
        return queuePairs.all().stream().map(SoftQueuePair::peer).collect(Collectors.toSet());
    }

    private record NumberedQueuePairs(KeyTable<SoftQueuePair> table) implements ResponderLinks.QueuePairs {
        @Override
        public ReceiveSide get(int number) {
            SoftQueuePair queuePair = table.get(number);
            return queuePair == null ? null : queuePair.receiveSide();
        }

        @Override
        public boolean hasKnown(int number) {
            return table.hasKnown(number);
        }
    }

    private void ended(RequesterLink link) {
        queuePairs.all().forEach(queuePair -> queuePair.requester().linkEnded(link));
    }

    @Override
    public int cutLinks() {
        return core.links().cut();
    }

    @Override
    public void portWentDown() {
        core.events().raise(AsyncEvent.Type.PORT_ERROR, SoftLimits.PORT);
        endLinks("the port is down");
    }

    @Override
    public void portCameUp() {
        core.events().raise(AsyncEvent.Type.PORT_ACTIVE, SoftLimits.PORT);
    }

    private void endLinks(String why) {
        requesters.end(why);
        responders.end(why);
    }

    private void expire() {
        try {
            // Answers may have arrived unread: the polling thread, or this whole process, may have been stopped.
            core.links().read();
            long now = System.nanoTime();
            long stood = Math.max(0, now - lastExpiry - 2 * EXPIRY_NANOS);
            lastExpiry = now;
            for (SoftQueuePair queuePair : queuePairs.all()) {
                queuePair.requester().expire(now, stood);
            }
            responders.acknowledgePending();
            responders.tick(now);
        } finally {
            core.links().later(this::expire, EXPIRY_NANOS);
        }
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public DeviceAttributes attributes() {
        return SoftLimits.attributes();
    }

    @Override
    public PortAttributes port(int port) {
        SoftLimits.checkPort(port);
        PortState state = core.faults().isPortDown() ? PortState.DOWN : PortState.ACTIVE;
        return new PortAttributes(state, Mtu.MTU_4096, 0, 1, SoftLimits.MAX_MESSAGE_BYTES, true);
    }

    @Override
    public Gid gid(int port, int index) {
        SoftLimits.checkPort(port);
        return index == 0 ? core.gid() : Gid.NONE;
    }

    @Override
    public Optional<Unreachable> unreachable(Gid peer) {
        return requesters.failure(peer);
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        return new SoftProtectionDomain(this);
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        return new SoftCompletionChannel(core.children());
    }

    @Override
    public CompletionQueue createCompletionQueue(CompletionQueueSpec spec) {
        SoftLimits.check("completions", spec.capacity(), SoftLimits.MAX_COMPLETIONS);
        return new SoftCompletionQueue(core, spec);
    }

    @Override
    public Optional<AsyncEvent> awaitEvent(Duration atMost) {
        return core.events().await(atMost);
    }

    @Override
    public void close() {
        if (core.children().close()) {
            core.faults().detach(this);
            // Before the event loop ends: it may leave open the connections that were accepted last.
            network.stopListening();
            endLinks("the device is closed");
            network.close();
        }
    }

    @Override
    public String toString() {
        return device.name() + " " + core.gid();
    }
}
