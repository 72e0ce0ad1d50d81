package dev.rackcall.cp;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.shm.os.Mapping;
import dev.rackcall.shm.os.SharedFile;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A tenant of an agent in this process, which may be the agent process with a tenant elsewhere. */
final class LocalTenant implements Tenant {
    private final Agent agent;
    private final String name;
    private final int maxQueues;
    private final int maxRegions;
    /** Replaced, never changed: requests are checked without a lock. */
    private volatile TenantRegion[] regions = {};

    private final Set<LocalQueue> queues = new HashSet<>();
    private boolean closed;
    /** Written before the tenant is handed out, and once when it is closed. */
    private volatile Optional<Agent> owned = Optional.empty();

    /** Requests at queue pairs. */
    private final AtomicInteger held = new AtomicInteger();

    LocalTenant(Agent agent, String name, int maxQueues, int maxRegions) {
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
    public MemoryRegion register(MemorySegment memory, Set<Access> rights) {
        return register(memory, rights, Optional.empty());
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
        synchronized (this) {
            requireOpen();
            if (regions.length >= maxRegions) {
                throw new ControlPlaneException(
                        Kind.QUOTA_EXCEEDED,
                        "tenant " + name + " has " + regions.length
                                + " memory regions and may have no more; close some, or raise"
                                + " AgentOptions.withQuota");
            }
            MemoryRegion region = agent.end().domain().register(memory, rights);
            TenantRegion made = new TenantRegion(this, region, Access.bits(rights), mapping);
            try {
                if (!EnumSet.of(Access.LOCAL_WRITE).containsAll(rights)) {
                    agent.regions()
                            .put(
                                    RegionRecord.keyOf(region.remoteKey()),
                                    made.record().toBytes());
                }
            } catch (RuntimeException e) {
                region.close();
                throw e;
            }
            regions = Stream.concat(Stream.of(regions), Stream.of(made)).toArray(TenantRegion[]::new);
            return made;
        }
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
    public LocalQueue connect(HostId host, ControlAddress address) {
        return connect(host, Optional.of(address));
    }

    private LocalQueue connect(HostId host, Optional<ControlAddress> address) {
        return connect(host, address, QueueWatcher.NOBODY);
    }

    /** @param watcher hears of completions */
    LocalQueue connect(HostId host, Optional<ControlAddress> address, QueueWatcher watcher) {
        Peer peer = agent.peer(host, address);
        LocalQueue queue = new LocalQueue(agent, this, peer, agent.queueDepth(), watcher);
        synchronized (this) {
            if (!closed && queues.size() < maxQueues) {
                queues.add(queue);
                return queue;
            }
        }
        agent.peers().release(peer);
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
        synchronized (this) {
            closed = true;
            open = queues.toArray(LocalQueue[]::new);
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
