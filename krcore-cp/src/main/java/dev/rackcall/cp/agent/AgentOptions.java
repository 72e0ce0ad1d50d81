package dev.rackcall.cp.agent;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.lane.Lanes;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The options of an agent. Start with {@link #of}.
 *
 * @param host the host's name in the control plane, which no other agent may have
 * @param meta supplies the meta server's current address whenever it is needed; empty for no meta server
 * @param renewal how often the agent renews its registration; a fraction of the meta server's lease
 * @param lanes the queue pairs that all peers share, if the device has dynamically connected ones; each peer uses one
 *     of them
 * @param own additional queue pairs for single busy peers
 * @param quota limits of a tenant and of the host
 */
public record AgentOptions(
        HostId host,
        Optional<Supplier<ControlAddress>> meta,
        Duration renewal,
        Lanes.Options lanes,
        Own own,
        Quota quota) {
    /**
     * Queue pairs for single busy peers.
     *
     * @param most maximum number of them; 0 for none
     * @param busyRequests requests a second that make a peer busy
     */
    public record Own(int most, long busyRequests) {
        /** Checks the values. */
        public Own {
            if (most < 0 || busyRequests < 1) {
                throw new IllegalArgumentException("not a number of queue pairs for busy peers: " + most
                        + ", or of requests that make one: " + busyRequests);
            }
        }
    }

    /**
     * Limits of a tenant and of the host.
     *
     * @param queueDepth requests of one virtual queue that may be in flight or wait to be popped
     * @param queues virtual queues of one tenant
     * @param regions memory regions of one tenant
     * @param hostRegions memory regions of all tenants together that peers may use
     */
    public record Quota(int queueDepth, int queues, int regions, int hostRegions) {
        /** Checks the values. */
        public Quota {
            if (queueDepth < 1 || queues < 1 || regions < 1 || hostRegions < 1) {
                throw new IllegalArgumentException("an agent needs 1 at least of each: queue depth " + queueDepth
                        + ", queues " + queues + ", regions " + regions + " a tenant, " + hostRegions + " a host");
            }
        }
    }

    /** Checks the values. */
    public AgentOptions {
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(meta, "meta");
        if (renewal.isNegative() || renewal.isZero()) {
            throw new IllegalArgumentException("renewal " + renewal + " must be positive");
        }
    }

    /**
     * The defaults: no meta server; renewal each second; a peer's region record valid for 1 s; 8 shared queue pairs
     * with 128 requests in flight each; 16 more for peers with 10,000 requests a second; 16 requests a virtual queue;
     * 4,096 virtual queues and 1,024 regions a tenant; 4,096 regions a host.
     */
    public static AgentOptions of(HostId host) {
        Duration second = Duration.ofSeconds(1);
        return new AgentOptions(
                host,
                Optional.empty(),
                second,
                new Lanes.Options(8, 128, second),
                new Own(16, 10_000),
                new Quota(16, 4096, 1024, 4096));
    }

    /** The same with a meta server. */
    public AgentOptions withMeta(Supplier<ControlAddress> address) {
        return new AgentOptions(host, Optional.of(address), renewal, lanes, own, quota);
    }

    /**
     * The same with other times.
     *
     * @param validity how long a peer's record of a memory region is valid
     */
    public AgentOptions withTimes(Duration newRenewal, Duration validity) {
        return new AgentOptions(
                host, meta, newRenewal, new Lanes.Options(lanes.count(), lanes.depth(), validity), own, quota);
    }

    /** The same with another number of shared queue pairs. */
    public AgentOptions withLanes(int count) {
        return new AgentOptions(
                host, meta, renewal, new Lanes.Options(count, lanes.depth(), lanes.validity()), own, quota);
    }

    /** The same with another maximum of queue pairs for single peers, and another rate that makes a peer busy. */
    public AgentOptions withOwnQueuePairs(int most, long requests) {
        return new AgentOptions(host, meta, renewal, lanes, new Own(most, requests), quota);
    }

    /** The same with other depths of a shared queue pair and of a virtual queue. */
    public AgentOptions withDepth(int lane, int queue) {
        Lanes.Options deep = new Lanes.Options(lanes.count(), lane, lanes.validity());
        return new AgentOptions(host, meta, renewal, deep, own, quotaOf(queue, quota.queues(), quota.regions()));
    }

    /** The same with other bounds for a tenant. */
    public AgentOptions withQuota(int queues, int regions) {
        return new AgentOptions(host, meta, renewal, lanes, own, quotaOf(quota.queueDepth(), queues, regions));
    }

    private Quota quotaOf(int queueDepth, int queues, int regions) {
        return new Quota(queueDepth, queues, regions, quota.hostRegions());
    }
}
