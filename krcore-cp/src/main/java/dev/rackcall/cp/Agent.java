package dev.rackcall.cp;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Device;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A host's part in the control plane, embedded in a process: the few queue pairs that all virtual queues share, the table of this host's memory
 * regions that peers read, and what is known of peers. Any thread may use it. It opens the device for itself; closing it ends everything.
 *
 * {@snippet :
 * Agent agent = Agent.open(Devices.find("soft:a"), AgentOptions.of(HostId.named("a")).withMeta(() -> meta));
 * Tenant tenant = agent.admit("orders");
 * MemoryRegion region = tenant.register(memory, EnumSet.of(Access.LOCAL_WRITE));
 * VirtualQueue queue = tenant.connect(HostId.named("b"));
 * queue.push(request.read(peerAddress, peerKey).from(region, 0, 4096).signaled());
 * }
 */
public final class Agent implements AutoCloseable {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final Duration PATIENCE = Duration.ofSeconds(2);
    private static final Duration FAREWELL = Duration.ofMillis(300);
    /** For registrations under way when it is closed; after that the device has to see to it. */
    private static final Duration REGION_TIME = Duration.ofSeconds(5);
    /** Peers to which no virtual queue leads that keep their address handle. */
    private static final int KEPT_IDLE = 128;

    private final AgentOptions options;
    private final DeviceEnd end;
    private final RecordTable regions;
    private final Messages messages;
    private final Peers peers;
    private final Lanes lanes;
    private final OwnQueuePairs own;
    private final ConnectedCallers callers;
    private final MetadataCache cache = new MetadataCache();
    private final ControlPort port;
    private final Optional<MetaClient> meta;
    private final HostRecord self;
    private final Registration registration;
    private final Tenants tenants = new Tenants();
    private final RegionsInHand regionsInHand = new RegionsInHand();
    private final MissingCallers missing = new MissingCallers();
    private final AtomicLong tenantNumbers = new AtomicLong();
    private final AtomicLong queueNumbers = new AtomicLong();

    private Agent(Device device, AgentOptions options) {
        this.options = options;
        end = new DeviceEnd(device);
        try {
            regions = end.keep(new RecordTable(
                    end.domain(),
                    "the table of " + options.host() + "'s memory regions",
                    RegionRecord.RECORD_BYTES,
                    options.tableRegions(),
                    Epoch.next(RANDOM)));
            messages = new Messages(this, end);
            int targetKey = RANDOM.nextInt();
            int target = end.isDynamic()
                    ? end.target(targetKey, EnumSet.allOf(Access.class), messages.completions(), messages.receives())
                            .number()
                    : HostRecord.NO_TARGET;
            callers = new ConnectedCallers(
                    end,
                    options.host(),
                    regions.location().epoch(),
                    EnumSet.allOf(Access.class),
                    spec -> spec.withReceiveQueue(messages.completions()).withShared(messages.receives()),
                    life -> true);
            Optional<TableReader> reader = end.isDynamic() ? Optional.of(TableReader.ofAll(end)) : Optional.empty();
            peers = end.keep(new Peers(KEPT_IDLE));
            port = new ControlPort(end, device.name(), this::answer, this::sweep);
            self = new HostRecord(end.gid(), target, targetKey, port.address().number(), regions.location());
            meta = options.meta()
                    .map(address -> end.keep(new MetaClient(end, port, reader, options.host(), self, address)));
            lanes = new Lanes(end, port, reader, self, options, this::doubt);
            own = new OwnQueuePairs(options.ownQueuePairs(), options.busyRequests(), lanes::own);
            registration = new Registration(options.host(), self, meta, options.renewal(), this::checkACaller);
        } catch (RuntimeException e) {
            end.close();
            throw e;
        }
    }

    /**
     * Opens the device and registers the host. If the meta server does not answer, the agent works without and goes on trying.
     *
     * @throws dev.rackcall.verbs.VerbsException if the device cannot be opened; ENETDOWN if its port is down
     * @throws ControlPlaneException REFUSED if the meta server refuses, for example because its table is full
     */
    public static Agent open(Device device, AgentOptions options) {
        Agent agent = new Agent(device, options);
        agent.port.start();
        try {
            agent.registration.begin();
        } catch (RuntimeException e) {
            agent.end.close();
            throw e;
        }
        return agent;
    }

    /** Its host. */
    public HostId host() {
        return options.host();
    }

    /** Which life of the host this is. */
    public int epoch() {
        return self.epoch();
    }

    /** Where it can be asked without a meta server, as long as it lives. */
    public ControlAddress address() {
        return port.address();
    }

    /** Lets somebody use it. The name is for messages and need not be unique. */
    public Tenant admit(String name) {
        return admitHere(name);
    }

    /** For what the agent itself does, without regard to what tenants may have. */
    LocalTenant admitItself(int maxQueues) {
        return tenants.add(new LocalTenant(this, "agent of " + host(), tenantNumbers.incrementAndGet(), maxQueues, 1));
    }

    LocalTenant admitHere(String name) {
        return tenants.add(new LocalTenant(
                this, name, tenantNumbers.incrementAndGet(), options.maxQueues(), options.maxRegions()));
    }

    /** Why the meta server does not know this host, if so. */
    public Optional<String> registrationProblem() {
        return registration.problem();
    }

    /** Queue pairs of the device that this agent has, for everybody together. */
    public int queuePairs() {
        return end.queuePairs()
                + lanes.ownQueuePairs()
                + callers.count()
                + meta.map(MetaClient::queuePairs).orElse(0);
    }

    /** How often the shared queue pair was brought back after a failed request. */
    public long recoveries() {
        return lanes.recoveries();
    }

    /** Hosts whose metadata is known here. */
    public int knownHosts() {
        return cache.count();
    }

    /** Bytes of that metadata, with its index. */
    public long knownHostsBytes() {
        return cache.byteSize();
    }

    /**
     * Forgets what is known of a host, so that the next connection asks anew. Virtual queues to it go on. The way to it that there is, a queue pair of its own if the device
     * has no dynamically connected ones, stays for that next connection, if it turns out to be the same life.
     */
    public void forget(HostId host) {
        cache.find(host).ifPresent(record -> cache.remove(host, record.epoch()));
        peers.forget(host);
    }

    /** As {@link #forget}, and closes the way to the host if no virtual queue leads there, so that the next connection is as the first one ever. */
    public void disconnect(HostId host) {
        cache.find(host).ifPresent(record -> cache.remove(host, record.epoch()));
        peers.disconnect(host);
    }

    DeviceEnd end() {
        return end;
    }

    RecordTable regions() {
        return regions;
    }

    RegionsInHand regionsInHand() {
        return regionsInHand;
    }

    OwnQueuePairs ownQueuePairs() {
        return own;
    }

    HostRecord self() {
        return self;
    }

    Messages messages() {
        return messages;
    }

    long nextQueueNumber() {
        return queueNumbers.incrementAndGet();
    }

    Lanes lanes() {
        return lanes;
    }

    Peers peers() {
        return peers;
    }

    int queueDepth() {
        return options.queueDepth();
    }

    AgentOptions options() {
        return options;
    }

    /** The peer, for one more virtual queue, if nobody need be asked for it. */
    Optional<Peer> knownPeer(HostId host) {
        Optional<Peer> known = peers.acquire(host);
        return known.isPresent() ? known : cache.find(host).map(record -> peer(host, record));
    }

    /** The peer, for one more virtual queue. */
    Peer peer(HostId host, Optional<ControlAddress> address) {
        Optional<Peer> known = knownPeer(host);
        return known.isPresent() ? known.get() : peer(host, lookUp(host, address));
    }

    /** The peer that has said itself what it is reached by, for one more virtual queue. */
    Peer peerOf(HostId host, HostRecord record) {
        Peer known = peer(host, record);
        if (known.record().epoch() == record.epoch()) {
            return known;
        }
        // An earlier life than that which we know, or a later one: that will turn out with the next request to it.
        peers.release(known);
        return peers.acquireFormer(host, record.epoch(), name -> lanes.to(name, record));
    }

    private Peer peer(HostId host, HostRecord record) {
        return peers.acquire(host, record, name -> lanes.to(name, record));
    }

    private HostRecord lookUp(HostId host, Optional<ControlAddress> address) {
        Optional<HostRecord> found = Optional.empty();
        if (meta.isPresent()) {
            try {
                found = meta.get().find(host);
            } catch (ControlPlaneException e) {
                if (address.isEmpty()) {
                    throw e;
                }
            }
        }
        if (found.isEmpty()) {
            found = Optional.of(handshake(
                    host,
                    address.orElseThrow(() -> new ControlPlaneException(
                            Kind.UNKNOWN_HOST,
                            (meta.isPresent()
                                            ? "the meta server does not know "
                                            : "there is no meta server to ask for ")
                                    + host + "; look whether its agent runs, or connect with its control address"))));
        }
        cache.put(host, found.get());
        return found.get();
    }

    private HostRecord handshake(HostId host, ControlAddress address) {
        byte[] name = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(host.value())
                .array();
        return HostRecord.read(port.ask(address, ControlMessage.DESCRIBE, name, PATIENCE));
    }

    private void sweep() {
        own.lookNowAndThen(peers);
        peers.sweep();
    }

    private byte[] answer(int operation, ByteBuffer body) {
        return switch (operation) {
            case ControlMessage.DESCRIBE -> describe(new HostId(body.getLong()));
            case ControlMessage.CONNECT -> callers.connect(body);
            case ControlMessage.DISCONNECT -> callers.disconnect(body);
            case ControlMessage.REGION -> region(body.getInt(), body.getInt());
            default -> throw new ControlPlaneException(Kind.REFUSED, "an agent has no operation " + operation);
        };
    }

    private byte[] describe(HostId asked) {
        if (!asked.equals(options.host())) {
            throw new ControlPlaneException(Kind.REFUSED, "this is " + options.host() + ", not " + asked);
        }
        return self.toBytes();
    }

    private byte[] region(int epoch, int key) {
        if (epoch != epoch()) {
            throw new ControlPlaneException(
                    Kind.REFUSED, options.host() + " lives in epoch " + epoch() + ", not " + epoch);
        }
        return regions.get(RegionRecord.keyOf(key)).orElse(new byte[0]);
    }

    /** Lets go of the connection of a host that is gone for good and has not said so. */
    private void checkACaller() {
        Optional<ConnectedCallers.Life> oldest = callers.next();
        if (oldest.isPresent()) {
            Optional<HostRecord> now = meta.orElseThrow().find(oldest.get().host());
            if (missing.isGone(oldest.get(), now.map(HostRecord::epoch), System.nanoTime())) {
                callers.close(oldest.get());
            }
        }
    }

    void dismissed(LocalTenant tenant) {
        tenants.remove(tenant);
    }

    /** Something went wrong with this life of a peer: the next connection to the host asks anew. */
    void doubt(Peer peer) {
        peer.regions().clear();
        // In this order: who connects meanwhile finds either this peer or what is asked anew.
        meta.ifPresent(MetaClient::doubt);
        cache.remove(peer.host(), peer.record().epoch());
        peers.retire(peer);
    }

    /** Closes all tenants, tells the meta server as far as it answers at once, and closes the device. */
    @Override
    public void close() {
        tenants.close();
        messages.close();
        lanes.stopConnecting();
        own.close();
        lanes.sayGoodbye();
        registration.end(FAREWELL);
        // All tenants are closed: nobody begins another.
        regionsInHand.awaitNone(REGION_TIME);
        end.close();
    }
}
