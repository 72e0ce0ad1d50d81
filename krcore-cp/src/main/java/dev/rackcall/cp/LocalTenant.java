package dev.rackcall.cp;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.soft.memory.AccessBarrier;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A tenant of an agent in this process, which may be the agent process with a tenant elsewhere. */
final class LocalTenant implements Tenant {
    private final Agent agent;
    private final String name;
    private final long number;
    private final int maxQueues;
    private final int maxRegions;
    /** Replaced, never changed: requests are checked without a lock. */
    private volatile TenantRegion[] regions = {};

    /** Those that are being made. */
    private int registering;

    private final Set<LocalQueue> queues = new HashSet<>();
    private final Set<LocalPort> ports = new HashSet<>();
    private boolean closed;
    /** Written before the tenant is handed out, and once when it is closed. */
    private volatile Optional<Agent> owned = Optional.empty();

    /** Requests at queue pairs. */
    private final AtomicInteger held = new AtomicInteger();

    /** @param number by which peers tell it from other tenants of this agent */
    LocalTenant(Agent agent, String name, long number, int maxQueues, int maxRegions) {
        this.number = number;
        this.agent = agent;
        this.name = name;
        this.maxQueues = maxQueues;
        this.maxRegions = maxRegions;
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
        return agent.end().isHardware();
    }

    long number() {
        return number;
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<Access> rights) {
        return register(memory, rights, Optional.empty());
    }

    /** An agent process would register all of the file. */
    static void requireWhole(SharedFile file, MemorySegment mapped) {
        if (mapped.byteSize() != file.bytes()) {
            throw new IllegalArgumentException(mapped.byteSize() + " bytes are not all of " + file);
        }
    }

    @Override
    public MemoryRegion register(SharedFile file, MemorySegment mapped, Set<Access> rights) {
        requireWhole(file, mapped);
        return register(mapped, rights, Optional.empty());
    }

    @Override
    public MemoryRegion share(SharedFile file, Set<Access> rights) {
        Mapping mapping;
        try (file) {
            mapping = file.map();
        }
        try {
            return register(mapping.memory(), rights, Optional.of(mapping));
        } catch (RuntimeException e) {
            mapping.close();
            throw e;
        }
    }

    /** @param mapping to be closed with the region */
    private TenantRegion register(MemorySegment memory, Set<Access> rights, Optional<Mapping> mapping) {
        reserve();
        try {
            // Without the monitor: a device may take long to pin memory, and who connects takes the monitor, too.
            MemoryRegion region = agent.end().domain().register(memory, rights);
            TenantRegion made = new TenantRegion(this, region, Access.bits(rights), mapping);
            try {
                add(made, rights);
            } catch (RuntimeException e) {
                agent.regions().remove(RegionRecord.keyOf(region.remoteKey()));
                region.close();
                throw e;
            }
            return made;
        } finally {
            synchronized (this) {
                registering--;
            }
            agent.regionsInHand().end();
        }
    }

    /** One more region is being made. */
    private synchronized void reserve() {
        requireOpen();
        if (regions.length + registering >= maxRegions) {
            throw new ControlPlaneException(
                    Kind.QUOTA_EXCEEDED,
                    "tenant " + name + " has " + maxRegions + " memory regions and may have no more; close some, or"
                            + " raise AgentOptions.withQuota");
        }
        registering++;
        agent.regionsInHand().begin();
    }

    private synchronized void add(TenantRegion made, Set<Access> rights) {
        // It may have been closed meanwhile.
        requireOpen();
        if (!EnumSet.of(Access.LOCAL_WRITE).containsAll(rights)) {
            agent.regions()
                    .put(RegionRecord.keyOf(made.remoteKey()), made.record().toBytes());
        }
        regions = Stream.concat(Stream.of(regions), Stream.of(made)).toArray(TenantRegion[]::new);
    }

    RegionsInHand regionsInHand() {
        return agent.regionsInHand();
    }

    synchronized void forget(TenantRegion region) {
        agent.regions().remove(RegionRecord.keyOf(region.remoteKey()));
        regions = Stream.of(regions).filter(other -> other != region).toArray(TenantRegion[]::new);
    }

    @Override
    public LocalQueue connect(HostId host) {
        return connect(host, Optional.empty());
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
        return connect(host, Optional.of(address));
    }

    private LocalQueue connect(HostId host, Optional<ControlAddress> address) {
        return connect(host, address, QueueWatcher.NOBODY);
    }

    /** @param watcher hears of completions */
    LocalQueue connect(HostId host, Optional<ControlAddress> address, QueueWatcher watcher) {
        return open(agent.peer(host, address), watcher);
    }

    /** The same if nobody need be asked for the host. */
    Optional<LocalQueue> connectIfKnown(HostId host, QueueWatcher watcher) {
        return agent.knownPeer(host).map(peer -> open(peer, watcher));
    }

    /** A virtual queue to the host that has sent what it is reached by. */
    LocalQueue connectTo(HostId host, HostRecord record) {
        return open(agent.peerOf(host, record), QueueWatcher.NOBODY);
    }

    private LocalQueue open(Peer peer, QueueWatcher watcher) {
        LocalQueue queue = new LocalQueue(agent, this, peer, agent.queueDepth(), watcher);
        synchronized (this) {
            if (!closed && queues.size() < maxQueues) {
                queues.add(queue);
                return queue;
            }
        }
        queue.close();
        synchronized (this) {
            requireOpen();
        }
        throw new ControlPlaneException(
                Kind.QUOTA_EXCEEDED,
                "tenant " + name + " has " + maxQueues + " virtual queues and may have no more; close some, or raise"
                        + " AgentOptions.withQuota");
    }

    synchronized void forget(LocalQueue queue) {
        queues.remove(queue);
    }

    @Override
    public LocalPort bind(int port) {
        return bind(port, () -> {});
    }

    /** @param watcher runs when a message has come, with the port's monitor */
    @Override
    public LocalPort bind(int port, Runnable watcher) {
        LocalPort made = agent.messages().bind(this, port, agent.queueDepth(), watcher);
        synchronized (this) {
            if (!closed && ports.size() < maxQueues) {
                ports.add(made);
                return made;
            }
        }
        made.close();
        synchronized (this) {
            requireOpen();
        }
        throw new ControlPlaneException(
                Kind.QUOTA_EXCEEDED, "tenant " + name + " has " + maxQueues + " ports and may have no more");
    }

    synchronized void forget(LocalPort port) {
        ports.remove(port);
    }

    private Optional<TenantRegion> region(int localKey) {
        for (TenantRegion region : regions) {
            if (region.localKey() == localKey) {
                return Optional.of(region);
            }
        }
        return Optional.empty();
    }

    /** The key by which peers reach its region of this local key. */
    int remoteKey(int localKey) {
        return region(localKey).map(TenantRegion::remoteKey).orElse(0);
    }

    /** Copies a part of its memory; returns false if that is gone. */
    boolean read(int localKey, long address, byte[] into, int at, int length) {
        return copy(
                localKey,
                address,
                length,
                memory -> MemorySegment.copy(memory, 0, MemorySegment.ofArray(into), at, length));
    }

    /** Writes into its memory; returns false if that is gone. */
    boolean write(int localKey, long address, MemorySegment payload) {
        return copy(localKey, address, payload.byteSize(), memory -> memory.copyFrom(payload));
    }

    private boolean copy(int localKey, long address, long length, Consumer<MemorySegment> copier) {
        Optional<TenantRegion> region = region(localKey);
        if (region.isEmpty() || !region.get().record().allows(address, length, 0)) {
            return false;
        }
        try {
            copier.accept(region.get().memory().asSlice(address - region.get().address(), length));
            AccessBarrier.await();
            return true;
        } catch (IllegalStateException | InternalError gone) {
            // Unmapped or cut just now, by whoever owns it.
            return false;
        }
    }

    /** Whether this range of its memory may be used with these rights. */
    boolean allows(int localKey, long address, long length, int rights) {
        for (TenantRegion region : regions) {
            if (region.localKey() == localKey) {
                return region.record().allows(address, length, rights);
            }
        }
        return false;
    }

    @Override
    public boolean ping(Duration atMost) {
        return true;
    }

    /** Closes this agent when it is closed itself. */
    LocalTenant endingWith(Agent mine) {
        owned = Optional.of(mine);
        return this;
    }

    int held() {
        return held.get();
    }

    void hold(int more) {
        held.addAndGet(more);
    }

    private void requireOpen() {
        if (closed) {
            throw new ControlPlaneException(Kind.QUEUE_FAILED, "tenant " + name + " is closed; admit it again");
        }
    }

    @Override
    public void close() {
        LocalQueue[] open;
        LocalPort[] bound;
        synchronized (this) {
            closed = true;
            open = queues.toArray(LocalQueue[]::new);
            bound = ports.toArray(LocalPort[]::new);
        }
        for (LocalPort port : bound) {
            port.close();
        }
        for (LocalQueue queue : open) {
            queue.close();
        }
        agent.lanes().drain(this);
        for (TenantRegion region : regions) {
            region.close();
        }
        agent.dismissed(this);
        Optional<Agent> mine = owned;
        owned = Optional.empty();
        mine.ifPresent(Agent::close);
    }
}
