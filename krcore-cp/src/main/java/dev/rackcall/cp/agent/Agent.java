package dev.rackcall.cp.agent;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.control.ConnectedCallers;
import dev.rackcall.cp.control.ControlMessage;
import dev.rackcall.cp.control.ControlPort;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.control.HostLife;
import dev.rackcall.cp.control.MissingCallers;
import dev.rackcall.cp.lane.Lanes;
import dev.rackcall.cp.lane.OwnQueuePairs;
import dev.rackcall.cp.lane.Peers;
import dev.rackcall.cp.meta.MetaClient;
import dev.rackcall.cp.meta.Registration;
import dev.rackcall.cp.request.PeerHost;
import dev.rackcall.cp.request.PendingRegions;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.cp.table.RecordTable;
import dev.rackcall.cp.table.RegionRecord;
import dev.rackcall.cp.table.TableReader;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Gid;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A host's part in the control plane, embedded in a process. It has the few queue pairs that all virtual queues share,
 * the table of this host's memory regions that peers read, and a cache of other hosts. Any thread may use it. The agent
 * opens the device for itself; closing the agent closes everything.
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
    private static final Duration FAREWELL = Duration.ofMillis(300);
    /** The time that registrations in progress have to end when the agent is closed. */
    private static final Duration REGION_TIME = Duration.ofSeconds(5);
    /** Maximum number of peers that stay connected without a virtual queue. */
    private static final int KEPT_IDLE = 128;
    /** Messages that may be in flight. */
    private static final int SENDS = 512;

    private final AgentOptions options;
    private final HostDevice end;
    private final RecordTable regions;
    private final AgentMessages messages;
    private final Peers peers;
    private final PeerLookup lookup;
    private final Lanes lanes;
    private final OwnQueuePairs own;
    private final ConnectedCallers callers;
    private final ControlPort port;
    private final Optional<MetaClient> meta;
    private final HostRecord self;
    private final Registration registration;
    private final LocalTenant.Services services;
    private final PendingRegions regionsInHand = new PendingRegions();
    private final MissingCallers missing = new MissingCallers();
    /** Guarded by itself. */
    private final List<LocalTenant> tenants = new ArrayList<>();

    private final AtomicLong tenantNumbers = new AtomicLong();
    /** Sends replies to messages; made for the first reply. Guarded by {@link MessageReplies}. */
    private Optional<LocalTenant> itself = Optional.empty();

    private Agent(Device device, AgentOptions options) {
        this.options = options;
        end = new HostDevice(device);
        try {
            regions = end.keep(new RecordTable(
                    end.domain(),
                    "the table of " + options.host() + "'s memory regions",
                    RegionRecord.RECORD_BYTES,
                    options.quota().hostRegions(),
                    RecordTable.drawEpoch(RANDOM)));
            MessageReceives receives = new MessageReceives(end);
            MessageSlots sends = new MessageSlots(end, SENDS);
            int targetKey = RANDOM.nextInt();
            int target = end.isDynamic()
                    ? end.target(targetKey, EnumSet.allOf(Access.class), receives.completions(), receives.queue())
                            .number()
                    : HostRecord.NO_TARGET;
            HostLife life = new HostLife(options.host(), regions.location().epoch());
            callers = new ConnectedCallers(
                    end,
                    life,
                    EnumSet.allOf(Access.class),
                    spec -> spec.withReceiveQueue(receives.completions()).withShared(receives.queue()),
                    any -> true);
            Optional<TableReader> reader = end.isDynamic() ? Optional.of(TableReader.ofAll(end)) : Optional.empty();
            peers = end.keep(new Peers(KEPT_IDLE));
            port = new ControlPort(end, device.name(), this::answer, this::sweep);
            self = new HostRecord(end.gid(), target, targetKey, port.address().number(), regions.location());
            meta = options.meta().map(address -> end.keep(new MetaClient(end, port, reader, life, address)));
            lanes = new Lanes(end, port, reader, life, options.lanes(), this::doubt);
            lookup = new PeerLookup(port, meta, lanes, peers);
            messages = new AgentMessages(
                    options.host(), self, receives, sends, lanes::pollIfBusy, this::connectItself, lookup::learn);
            services = new LocalTenant.Services(options.host(), end, regions, regionsInHand, lookup, lanes);
            own = new OwnQueuePairs(options.own().most(), options.own().busyRequests(), lanes::own);
            registration = new Registration(options.host(), self, meta, options.renewal(), this::checkACaller);
        } catch (RuntimeException e) {
            end.close();
            throw e;
        }
    }

    /**
     * Opens the device and registers the host. If the meta server does not answer, the agent works without it and
     * keeps trying to register.
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

    /** The epoch of this life of the host. */
    public int epoch() {
        return self.epoch();
    }

    /** The address by which other hosts reach this agent without a meta server, as long as it lives. */
    public ControlAddress address() {
        return port.address();
    }

    public AgentOptions options() {
        return options;
    }

    /** Admits a tenant. The name appears in messages and need not be unique. */
    public LocalTenant admit(String name) {
        return admit(name, options.quota());
    }

    private LocalTenant admit(String name, AgentOptions.Quota limits) {
        LocalTenant[] made = new LocalTenant[1];
        made[0] = new LocalTenant(
                services, messages, name, tenantNumbers.incrementAndGet(), limits, () -> dismissed(made[0]));
        synchronized (tenants) {
            tenants.add(made[0]);
        }
        return made[0];
    }

    private void dismissed(LocalTenant tenant) {
        synchronized (tenants) {
            tenants.remove(tenant);
        }
    }

    /** A virtual queue of the agent itself, which does not count against the tenants' quotas. */
    private LocalQueue connectItself(HostId host, HostRecord record) {
        if (itself.isEmpty()) {
            itself = Optional.of(admit(
                    "agent of " + host(),
                    options.withQuota(2 * MessageReplies.KEPT, 1).quota()));
        }
        return itself.get().connectTo(host, record);
    }

    /** Why this host is not registered at the meta server; empty if it is. */
    public Optional<String> registrationProblem() {
        return registration.problem();
    }

    /** Queue pairs of the device that this agent has, for all tenants together. */
    public int queuePairs() {
        return end.queuePairs()
                + lanes.ownQueuePairs()
                + callers.count()
                + meta.map(MetaClient::queuePairs).orElse(0);
    }

    /** How often a shared queue pair was restarted after a failed request. */
    public long recoveries() {
        return lanes.recoveries();
    }

    /** Hosts whose records are cached. */
    public int knownHosts() {
        return lookup.cache().count();
    }

    /** Size in bytes of the cache of hosts. */
    public long knownHostsBytes() {
        return lookup.cache().byteSize();
    }

    /**
     * Forgets a host's record, so that the next connection looks it up again. Virtual queues to it continue. On a
     * device without dynamically connected queue pairs the queue pair to the host stays, and the next connection uses
     * it if the host has not restarted.
     */
    public void forget(HostId host) {
        lookup.forget(host);
    }

    /**
     * As {@link #forget}, and also closes the queue pair to the host if no virtual queue uses it, so that the next
     * connection starts from nothing.
     */
    public void disconnect(HostId host) {
        lookup.disconnect(host);
    }

    /**
     * Takes messages and completions from the device; returns whether requests are in flight. The agent's own threads
     * do this too, but later.
     */
    public boolean poll() {
        messages.poll();
        boolean busy = lanes.pollIfBusy();
        if (!busy) {
            lanes.look();
        }
        return busy;
    }

    /** Called by a thread that has called {@link #poll} in its loop and is about to sleep. */
    public void rest() {
        lanes.rest();
    }

    AgentMessages messages() {
        return messages;
    }

    Peers peers() {
        return peers;
    }

    Lanes lanes() {
        return lanes;
    }

    private void sweep() {
        own.lookNowAndThen(peers);
        peers.sweep();
    }

    private byte[] answer(int operation, Gid sender, ByteBuffer body) {
        return switch (operation) {
            case ControlMessage.DESCRIBE -> describe(new HostId(body.getLong()));
            case ControlMessage.CONNECT -> callers.connect(sender, body);
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

    /** Closes the connection of a host that has ended without closing it. */
    private void checkACaller() {
        Optional<HostLife> oldest = callers.next();
        if (oldest.isPresent()) {
            Optional<HostRecord> now = meta.orElseThrow().find(oldest.get().host());
            if (missing.isGone(oldest.get(), now.map(HostRecord::epoch), System.nanoTime())) {
                callers.close(oldest.get());
            }
        }
    }

    private void doubt(PeerHost peer) {
        lookup.doubt(peer);
    }

    /** Closes all tenants, tells the meta server if it replies at once, and closes the device. */
    @Override
    public void close() {
        List<LocalTenant> open;
        synchronized (tenants) {
            open = List.copyOf(tenants);
        }
        open.forEach(LocalTenant::close);
        messages.close();
        lanes.stopConnecting();
        own.close();
        lanes.announceEnd();
        registration.end(FAREWELL);
        // All tenants are closed: no other registration begins.
        regionsInHand.awaitNone(REGION_TIME);
        end.close();
    }
}
