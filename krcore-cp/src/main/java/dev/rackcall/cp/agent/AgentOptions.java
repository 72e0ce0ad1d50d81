package dev.rackcall.cp.agent;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.lane.Lanes;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * How an agent works. Start with {@link #of}.
 *
 * @param host the host's name in the control plane, which no other agent may have
 * @param meta where the meta server is now, asked again whenever it does not answer; empty for none
 * @param renewal how often the agent renews its registration; a fraction of the meta server's lease
 * @param validity how long what is known of a peer's memory region is believed
 * @param lanes queue pairs that lead to all peers, where the device has such; each peer uses one of them
 * @param ownQueuePairs queue pairs to busy peers beside those; 0 for none
 * @param busyRequests requests a second that make a peer a busy one
 * @param laneDepth requests that may be under way at a shared queue pair
 * @param queueDepth requests of one virtual queue that may be under way or wait to be popped
 * @param maxQueues virtual queues of one tenant
 * @param maxRegions memory regions of one tenant
 * @param tableRegions memory regions of all tenants that peers may use
 */
public record AgentOptions(
        HostId host,
        Optional<Supplier<ControlAddress>> meta,
        Duration renewal,
        Duration validity,
        int lanes,
        int ownQueuePairs,
        long busyRequests,
        int laneDepth,
        int queueDepth,
        int maxQueues,
        int maxRegions,
        int tableRegions) {
    private static final int LANES = 8;
    private static final int OWN = 16;
    private static final long BUSY = 10_000;

    /** Checks the values. */
    public AgentOptions {
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(meta, "meta");
        if (renewal.isNegative() || renewal.isZero() || validity.isNegative()) {
            throw new IllegalArgumentException(
                    "renewal " + renewal + " must be positive, validity " + validity + " not negative");
        }
        if (ownQueuePairs < 0 || busyRequests < 1) {
            throw new IllegalArgumentException("not a number of queue pairs for busy peers: " + ownQueuePairs
                    + ", or of requests that make one: " + busyRequests);
        }
        if (lanes < 1 || laneDepth < 2 || queueDepth < 1 || maxQueues < 1 || maxRegions < 1 || tableRegions < 1) {
            throw new IllegalArgumentException("an agent needs a lane of 2 requests at least, not " + lanes + " of "
                    + laneDepth + ", and 1 of all else at least: queue depth " + queueDepth + ", queues " + maxQueues
                    + ", regions " + maxRegions + " a tenant, " + tableRegions + " a host");
        }
    }

    /**
     * No meta server, renewal each second, validity 1 s, 8 shared queue pairs with 128 requests under way each, 16 more to peers with 10,000 requests a second; 16 requests a virtual queue; 4,096 virtual queues and 1,024 regions
     * a tenant, 4,096 regions a host.
     */
    public static AgentOptions of(HostId host) {
        return new AgentOptions(
                host,
                Optional.empty(),
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                LANES,
                OWN,
                BUSY,
                128,
                16,
                4096,
                1024,
                4096);
    }

    Lanes.Options laneOptions() {
        return new Lanes.Options(lanes, laneDepth, validity);
    }

    /** The same with a meta server. */
    public AgentOptions withMeta(Supplier<ControlAddress> address) {
        return changed(copy -> copy.meta = Optional.of(address));
    }

    /** The same with other times. */
    public AgentOptions withTimes(Duration newRenewal, Duration newValidity) {
        return changed(copy -> {
            copy.renewal = newRenewal;
            copy.validity = newValidity;
        });
    }

    /** The same with another number of shared queue pairs. */
    public AgentOptions withLanes(int count) {
        return changed(copy -> copy.lanes = count);
    }

    /** The same with another number of queue pairs to single peers, each of which gets this many requests a second. */
    public AgentOptions withOwnQueuePairs(int most, long requests) {
        return changed(copy -> {
            copy.ownQueuePairs = most;
            copy.busyRequests = requests;
        });
    }

    /** The same with other depths of a shared queue pair and of a virtual queue. */
    public AgentOptions withDepth(int lane, int queue) {
        return changed(copy -> {
            copy.laneDepth = lane;
            copy.queueDepth = queue;
        });
    }

    /** The same with other bounds for a tenant. */
    public AgentOptions withQuota(int queues, int regions) {
        return changed(copy -> {
            copy.maxQueues = queues;
            copy.maxRegions = regions;
        });
    }

    private AgentOptions changed(Consumer<Copy> change) {
        Copy copy = new Copy(this);
        change.accept(copy);
        return copy.toOptions();
    }

    /** What a method changes before it is checked as a whole. */
    private static final class Copy {
        private final HostId host;
        private final int tableRegions;
        private Optional<Supplier<ControlAddress>> meta;
        private Duration renewal;
        private Duration validity;
        private int lanes;
        private int ownQueuePairs;
        private long busyRequests;
        private int laneDepth;
        private int queueDepth;
        private int maxQueues;
        private int maxRegions;

        Copy(AgentOptions from) {
            host = from.host;
            tableRegions = from.tableRegions;
            meta = from.meta;
            renewal = from.renewal;
            validity = from.validity;
            lanes = from.lanes;
            ownQueuePairs = from.ownQueuePairs;
            busyRequests = from.busyRequests;
            laneDepth = from.laneDepth;
            queueDepth = from.queueDepth;
            maxQueues = from.maxQueues;
            maxRegions = from.maxRegions;
        }

        AgentOptions toOptions() {
            return new AgentOptions(
                    host,
                    meta,
                    renewal,
                    validity,
                    lanes,
                    ownQueuePairs,
                    busyRequests,
                    laneDepth,
                    queueDepth,
                    maxQueues,
                    maxRegions,
                    tableRegions);
        }
    }
}
