package dev.rackcall.cp.agent;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.cp.lane.LanePeer;
import dev.rackcall.cp.lane.LaneTenant;
import dev.rackcall.cp.lane.Lanes;
import dev.rackcall.cp.request.PendingRegions;
import dev.rackcall.cp.request.TenantMemory;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.cp.table.RecordTable;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A tenant of an agent in this process. In an agent process, each tenant in another process is represented by one. */
public final class LocalTenant implements Tenant {
    /**
     * The parts of an agent that its tenants use.
     *
     * @param lanes moves requests that are in flight
     */
    record Services(
            HostId host,
            HostDevice device,
            RecordTable regions,
            PendingRegions inHand,
            PeerLookup peers,
            Lanes lanes) {}

    private final Services agent;
    private final AgentMessages messages;
    private final String name;
    private final AgentOptions.Quota limits;
    private final TenantMemory memory;
    private final LocalQueue.Owner owner;
    /** Guarded by the monitor, with what follows. */
    private final Set<LocalQueue> queues = new HashSet<>();

    private final Set<LocalPort> ports = new HashSet<>();
    private boolean closed;
    private Optional<Runnable> afterClose;

    /**
     * @param number by which peers distinguish the tenants of this agent
     * @param limits how many queues, ports and regions the tenant may have
     * @param afterClose runs once, when the tenant has been closed
     */
    LocalTenant(
            Services agent,
            AgentMessages messages,
            String name,
            long number,
            AgentOptions.Quota limits,
            Runnable afterClose) {
        this.agent = agent;
        this.messages = messages;
        this.name = name;
        this.limits = limits;
        this.afterClose = Optional.of(afterClose);
        memory = new TenantMemory(name, agent.device(), agent.regions(), agent.inHand(), limits.regions());
        owner = new LocalQueue.Owner(
                number, memory, new LaneTenant(), messages, agent.peers(), limits.queueDepth(), this::forget);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public HostId host() {
        return agent.host();
    }

    @Override
    public boolean hasAgent() {
        return true;
    }

    @Override
    public synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public boolean isHardware() {
        return memory.isHardware();
    }

    @Override
    public MemoryRegion register(MemorySegment mapped, Set<Access> rights) {
        return memory.register(mapped, rights);
    }

    @Override
    public MemoryRegion register(SharedFile file, MemorySegment mapped, Set<Access> rights) {
        Tenant.requireWhole(file, mapped);
        return memory.register(mapped, rights);
    }

    @Override
    public MemoryRegion share(SharedFile file, Set<Access> rights) {
        return memory.share(file, rights);
    }

    @Override
    public LocalQueue connect(HostId host) {
        return connect(host, Optional.empty(), LocalQueue.UNWATCHED);
    }

    @Override
    public List<VirtualQueue> connect(List<HostId> hosts) {
        List<VirtualQueue> made = new ArrayList<>(hosts.size());
        try {
            for (HostId host : hosts) {
                made.add(connect(host));
            }
        } catch (RuntimeException e) {
            made.forEach(VirtualQueue::close);
            throw e;
        }
        return List.copyOf(made);
    }

    @Override
    public LocalQueue connect(HostId host, ControlAddress address) {
        return connect(host, Optional.of(address), LocalQueue.UNWATCHED);
    }

    /** @param watcher runs after completions, with the queue's monitor and perhaps the lane's */
    public LocalQueue connect(HostId host, Optional<ControlAddress> address, Runnable watcher) {
        return open(agent.peers().peer(host, address), watcher);
    }

    /** As {@link #connect}, but returns empty if another host would have to be queried. */
    public Optional<LocalQueue> connectIfKnown(HostId host, Runnable watcher) {
        return agent.peers().knownPeer(host).map(peer -> open(peer, watcher));
    }

    /** A virtual queue to a host that has sent its record itself. */
    LocalQueue connectTo(HostId host, HostRecord record) {
        return open(agent.peers().peerOf(host, record), LocalQueue.UNWATCHED);
    }

    private LocalQueue open(LanePeer peer, Runnable watcher) {
        LocalQueue queue = new LocalQueue(owner, peer, watcher);
        keep(queues, queue, "virtual queues");
        return queue;
    }

    private <T extends AutoCloseable> void keep(Set<T> all, T made, String what) {
        synchronized (this) {
            if (!closed && all.size() < limits.queues()) {
                all.add(made);
                return;
            }
        }
        HostDevice.close(made);
        memory.requireOpen();
        throw new ControlPlaneException(
                Kind.QUOTA_EXCEEDED,
                "tenant " + name + " has " + limits.queues() + " " + what + " and may have no more; close some, or"
                        + " raise AgentOptions.withQuota");
    }

    private synchronized void forget(LocalQueue queue) {
        queues.remove(queue);
    }

    private synchronized void forget(LocalPort port) {
        ports.remove(port);
    }

    @Override
    public LocalPort bind(int port) {
        return bind(port, () -> {});
    }

    /** @param watcher runs when a message has arrived, with the port's monitor */
    @Override
    public LocalPort bind(int port, Runnable watcher) {
        LocalPort.Owner receiver =
                new LocalPort.Owner(memory, message -> connectTo(message.host(), message.record()), this::forget);
        LocalPort made = messages.bind(receiver, port, limits.queueDepth(), watcher);
        keep(ports, made, "ports");
        return made;
    }

    /** Requests in flight. */
    int held() {
        return owner.lanes().held();
    }

    @Override
    public boolean ping(Duration atMost) {
        return true;
    }

    /** Adds an action that runs when the tenant has been closed. */
    public synchronized LocalTenant andThen(Runnable more) {
        Runnable before = afterClose.orElseThrow();
        afterClose = Optional.of(() -> {
            before.run();
            more.run();
        });
        return this;
    }

    @Override
    public void close() {
        List<LocalQueue> open;
        List<LocalPort> bound;
        Optional<Runnable> last;
        synchronized (this) {
            closed = true;
            memory.stop();
            open = List.copyOf(queues);
            bound = List.copyOf(ports);
            last = afterClose;
            afterClose = Optional.empty();
        }
        bound.forEach(LocalPort::close);
        open.forEach(LocalQueue::close);
        agent.lanes().drain(owner.lanes());
        memory.close();
        last.ifPresent(Runnable::run);
    }
}
