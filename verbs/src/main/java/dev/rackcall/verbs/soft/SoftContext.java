package dev.rackcall.verbs.soft;

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
import io.netty.channel.EventLoop;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** An open software device: what was made in it, and the connections to others. */
final class SoftContext implements Context {
    private static final int PORT = 1;
    private static final String PORT_DOWN = "the port is down";
    private static final int MAX_EVENTS = 1024;
    /** Connections that may be saying hello beside those that have. */
    private static final int MAX_NEWCOMERS = 16;

    private static final long EXPIRY_NANOS = 100_000_000;
    private static final Thread NO_THREAD = Thread.ofPlatform().unstarted(() -> {});

    private final SoftDevice device;
    private final SoftOptions options;
    private final Network network;
    private final Gid gid;
    private final Children children = new Children("a context");
    private final KeyTable<SoftMemoryRegion> regions = new KeyTable<>(SoftLimits.MAX_MEMORY_REGIONS, Integer.SIZE);
    private final KeyTable<SoftQueuePair> queuePairs = new KeyTable<>(SoftLimits.MAX_QUEUE_PAIRS, 24);
    private final Map<Gid, RequesterLink> requesters = new ConcurrentHashMap<>();
    private final Set<ResponderLink> responders = ConcurrentHashMap.newKeySet();
    /** Replaced, never changed: who polls goes through it without an iterator. */
    private volatile Link[] openLinks = {};

    private final LinkedBlockingQueue<AsyncEvent> events = new LinkedBlockingQueue<>(MAX_EVENTS);
    private final PollingDuty duty = new PollingDuty(this);
    private final Object atomics = new Object();
    /** When it was last looked which peers are silent. The event loop's. */
    private long lastExpiry = System.nanoTime();

    private SoftContext(SoftDevice device, SoftOptions options) {
        this.device = device;
        this.options = options;
        network = new Network(device.name(), options.tls());
        try {
            gid = SoftGid.of(network.listen(new InetSocketAddress(options.address(), options.port()), this::accept));
        } catch (RuntimeException e) {
            network.close();
            throw e;
        }
    }

    static SoftContext open(SoftDevice device, SoftOptions options) {
        SoftContext context = new SoftContext(device, options);
        options.faults().attach(context);
        context.later(context::expire, EXPIRY_NANOS);
        return context;
    }

    static void checkPort(int port) {
        if (port != PORT) {
            throw new VerbsException("port " + port + " of a software device", VerbsErrno.EINVAL, "it has port 1 only");
        }
    }

    Children children() {
        return children;
    }

    KeyTable<SoftMemoryRegion> regions() {
        return regions;
    }

    KeyTable<SoftQueuePair> queuePairs() {
        return queuePairs;
    }

    FaultPlan faults() {
        return options.faults();
    }

    EventLoop eventLoop() {
        return network.eventLoop();
    }

    /** Runs this on the device's thread after some nanoseconds. */
    void later(Runnable task, long nanos) {
        eventLoop().schedule(task, nanos, TimeUnit.NANOSECONDS).addListener(Network::logFailure);
    }

    Gid gid() {
        return gid;
    }

    /** The lock that atomics of peers hold; the processor's own atomics know nothing of it. */
    Object atomics() {
        return atomics;
    }

    /** Stands for any thread but the current one. */
    Thread anyOtherThread() {
        return NO_THREAD;
    }

    /** The connection to that device: the one that is there, or a new one. */
    RequesterLink linkTo(Gid target) {
        RequesterLink present = requesters.get(target);
        if (present != null && !present.isEnded()) {
            return present;
        }
        InetSocketAddress address = SoftGid.address(target);
        RequesterLink link = requesters.compute(
                target, (key, old) -> old == null || old.isEnded() ? new RequesterLink(this, target) : old);
        if (link.isFresh()) {
            // It is among the requesters by now: who takes the port down finds either it, or is found here.
            if (options.faults().isPortDown()) {
                // Not here: the caller may hold a queue pair's monitor, and the end tells all queue pairs.
                eventLoop().execute(() -> link.end(PORT_DOWN));
            } else {
                network.connect(address, link);
            }
        }
        return link;
    }

    private Optional<ResponderLink> accept(String from) {
        if (responders.size() >= options.maxPeers() + MAX_NEWCOMERS) {
            return Optional.empty();
        }
        ResponderLink link = new ResponderLink(this, from);
        responders.add(link);
        // As in linkTo.
        if (options.faults().isPortDown()) {
            responders.remove(link);
            return Optional.empty();
        }
        return Optional.of(link);
    }

    /** What to say to a device that has just connected. */
    Greeting.Answer judge(MemorySegment greeting, long at) {
        if (Greeting.version(greeting, at) != FrameLayout.VERSION) {
            return Greeting.Answer.OTHER_VERSION;
        }
        if (!Greeting.target(greeting, at).equals(gid)) {
            return Greeting.Answer.OTHER_DEVICE;
        }
        return responders.size() > options.maxPeers() ? Greeting.Answer.TOO_MANY_PEERS : Greeting.Answer.WELCOME;
    }

    Link[] openLinks() {
        return openLinks;
    }

    void linkOpened(Link link) {
        synchronized (requesters) {
            openLinks = Stream.concat(Stream.of(openLinks), Stream.of(link)).toArray(Link[]::new);
        }
        duty.opened(link);
        if (link.isEnded()) {
            close(link);
        }
    }

    private void close(Link link) {
        synchronized (requesters) {
            openLinks = Stream.of(openLinks).filter(open -> open != link).toArray(Link[]::new);
        }
    }

    void linkEnded(Link link) {
        close(link);
        if (link instanceof RequesterLink requester) {
            requesters.remove(requester.target(), requester);
        } else {
            responders.remove(link);
        }
    }

    int cutConnections() {
        Link[] open = openLinks;
        for (Link link : open) {
            link.end("cut by the fault plan");
        }
        return open.length;
    }

    /** By the fault plan, which says by now that it is. */
    void portWentDown() {
        raise(new AsyncEvent(AsyncEvent.Type.PORT_ERROR, PORT));
        endLinks(PORT_DOWN);
    }

    void portCameUp() {
        raise(new AsyncEvent(AsyncEvent.Type.PORT_ACTIVE, PORT));
    }

    private void endLinks(String why) {
        requesters.values().forEach(link -> link.end(why));
        responders.forEach(link -> link.end(why));
    }

    /** Reads all connections on the calling thread. Returns whether anything came. */
    boolean progress() {
        return duty.poll();
    }

    /** A thread that may have polled busily does so no more: the event loop reads again, until somebody else is found to poll. */
    void pollersRest() {
        duty.rest();
    }

    void raise(AsyncEvent event) {
        // Bounded: who never asks for events loses the later ones.
        if (!events.offer(event)) {
            return;
        }
    }

    /** Acknowledges what was done unasked. Never called with a monitor held. */
    void settle() {
        responders.forEach(ResponderLink::settle);
    }

    private void expire() {
        try {
            // Answers may have come that nobody has read: a thread that polled was kept from it, or this whole process.
            for (Link link : openLinks) {
                link.poll();
            }
            long now = System.nanoTime();
            long stood = Math.max(0, now - lastExpiry - 2 * EXPIRY_NANOS);
            lastExpiry = now;
            for (SoftQueuePair queuePair : queuePairs.all()) {
                queuePair.expire(now, stood);
            }
            settle();
        } finally {
            later(this::expire, EXPIRY_NANOS);
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
        checkPort(port);
        PortState state = options.faults().isPortDown() ? PortState.DOWN : PortState.ACTIVE;
        return new PortAttributes(state, Mtu.MTU_4096, 0, 1, SoftLimits.MAX_MESSAGE_BYTES, true);
    }

    @Override
    public Gid gid(int port, int index) {
        checkPort(port);
        return index == 0 ? gid : Gid.NONE;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
        return new SoftProtectionDomain(this);
    }

    @Override
    public CompletionChannel createCompletionChannel() {
        return new SoftCompletionChannel(children);
    }

    @Override
    public CompletionQueue createCompletionQueue(CompletionQueueSpec spec) {
        SoftLimits.check("completions", spec.capacity(), SoftLimits.MAX_COMPLETIONS);
        return new SoftCompletionQueue(this, spec);
    }

    @Override
    public Optional<AsyncEvent> awaitEvent(Duration atMost) {
        try {
            return Optional.ofNullable(events.poll(atMost.toNanos(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        if (children.close()) {
            options.faults().detach(this);
            // One by one: an event loop that ends may leave connections open that came at the last moment.
            network.stopListening();
            endLinks("the device is closed");
            network.close();
        }
    }

    @Override
    public String toString() {
        return device.name() + " " + gid;
    }
}
