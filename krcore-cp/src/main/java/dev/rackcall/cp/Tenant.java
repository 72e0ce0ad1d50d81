package dev.rackcall.cp;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Who uses an agent: one process, or one part of a process that shall not disturb others. A tenant's requests may name its own memory regions
 * only, and what it can use up is bounded. Any thread may use it. Closing it closes its queues and regions.
 */
public final class Tenant implements AutoCloseable {
    private final Agent agent;
    private final String name;
    private final int maxQueues;
    private final int maxRegions;
    /** Replaced, never changed: requests are checked without a lock. */
    private volatile TenantRegion[] regions = {};

    private final Set<VirtualQueue> queues = new HashSet<>();
    private boolean closed;
    /** Places in the shared queue pair; guarded by its lane. */
    private int held;

    Tenant(Agent agent, String name, int maxQueues, int maxRegions) {
        this.agent = agent;
        this.name = name;
        this.maxQueues = maxQueues;
        this.maxRegions = maxRegions;
    }

    /** The name it was admitted by. */
    public String name() {
        return name;
    }

    /**
     * Registers memory, as {@link dev.rackcall.verbs.ProtectionDomain#register} does; the memory stays the caller's and must stay mapped until
     * the region is closed. With remote rights, peers find the region in this host's table by its remote key.
     *
     * @throws ControlPlaneException QUOTA_EXCEEDED, or TABLE_FULL if the host has too many regions
     */
    public MemoryRegion register(MemorySegment memory, Set<Access> rights) {
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
            TenantRegion made = new TenantRegion(this, region, Access.bits(rights));
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

    /**
     * A virtual queue to a host, usable at once. Takes what is known of the host from the cache, else reads it from the meta server.
     *
     * @throws ControlPlaneException UNKNOWN_HOST, UNREACHABLE (the meta server), QUOTA_EXCEEDED
     */
    public VirtualQueue connect(HostId host) {
        return connect(host, Optional.empty());
    }

    /** The same; if the meta server does not know the host or does not answer, the host itself is asked at this address. */
    public VirtualQueue connect(HostId host, ControlAddress address) {
        return connect(host, Optional.of(address));
    }

    private VirtualQueue connect(HostId host, Optional<ControlAddress> address) {
        Peer peer = agent.peer(host, address);
        VirtualQueue queue = new VirtualQueue(agent, this, peer, agent.queueDepth());
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

    synchronized void forget(VirtualQueue queue) {
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

    int held() {
        return held;
    }

    void hold(int more) {
        held += more;
    }

    private void requireOpen() {
        if (closed) {
            throw new ControlPlaneException(Kind.QUEUE_FAILED, "tenant " + name + " is closed; admit it again");
        }
    }

    /** Requests that are under way end first, as far as they do within a second. */
    @Override
    public void close() {
        VirtualQueue[] open;
        synchronized (this) {
            closed = true;
            open = queues.toArray(VirtualQueue[]::new);
        }
        for (VirtualQueue queue : open) {
            queue.close();
        }
        agent.lane().drain(this);
        for (TenantRegion region : regions) {
            region.close();
        }
        agent.dismissed(this);
    }
}
