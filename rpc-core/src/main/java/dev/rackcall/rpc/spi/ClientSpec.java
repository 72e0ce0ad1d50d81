package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.EnforcedSeals;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * What a channel requires of its transport.
 *
 * @param channel the channel's name
 * @param place where to find its server
 * @param waiting how callers wait
 * @param capacity how much may be in use at once
 * @param timeouts how long to wait
 * @param sealing when scopes are sealed, and by which process
 */
public record ClientSpec(
        String channel, Place place, WaitStrategy waiting, Capacity capacity, Timeouts timeouts, Sealing sealing) {
    /**
     * Where to find a server: at the address if one is set, else in the pool if one is set, else on this host.
     *
     * @param directory of this host's sockets and lock files
     * @param pool of several hosts; open as long as the channel
     * @param address of a server that shares no memory with this process
     */
    public record Place(Path directory, Optional<Pool> pool, Optional<URI> address) {
        public static Place here(Path directory) {
            return new Place(directory, Optional.empty(), Optional.empty());
        }
    }

    /**
     * Bounds of one connection.
     *
     * @param slots maximum number of calls in flight; a power of two
     * @param arenaQuota maximum bytes of the request arena, and of the reply arena
     */
    public record Capacity(int slots, long arenaQuota) {
        /** Bytes of an arena in shared memory, of which only what is used is reserved. */
        public static final long NEAR_QUOTA = 256L << 20;
        /** Bytes of a mirrored arena, which is reserved in full. */
        public static final long REMOTE_QUOTA = 16L << 20;
    }

    /**
     * Bounds on waiting.
     *
     * @param connect for connecting
     * @param call for calls that set no timeout
     * @param clock on which the deadlines of calls are measured
     */
    public record Timeouts(Duration connect, Duration call, DeadlineClock clock) {}

    /**
     * When a call with {@link dev.rackcall.rpc.Isolation#AUTO} seals its scope.
     *
     * @param from size in bytes from which a scope is sealed instead of copied
     * @param kept maximum number of scopes, and of their pages, that stay write-protected after sealed calls until they
     *     are used; 0: none
     * @param enforced the process that holds the seals, so that this one cannot lift them
     */
    public record Sealing(long from, int kept, Optional<EnforcedSeals> enforced) {
        /**
         * A server copies no larger scopes by default; for smaller ones the cheaper mode is found by measuring. 1,024
         * scopes are kept, as RPCool does (arXiv 2408.11325).
         */
        public static final Sealing DEFAULT = new Sealing(64 << 20, 1024, Optional.empty());
    }

    public Path directory() {
        return place.directory;
    }

    public Optional<Pool> pool() {
        return place.pool;
    }

    public Optional<URI> address() {
        return place.address;
    }

    public int slots() {
        return capacity.slots;
    }

    public long arenaQuota() {
        return capacity.arenaQuota;
    }

    public Duration connectTimeout() {
        return timeouts.connect;
    }

    public Duration defaultTimeout() {
        return timeouts.call;
    }

    public DeadlineClock clock() {
        return timeouts.clock;
    }

    /** The same channel, to be found in another place. */
    public ClientSpec at(Place other) {
        boolean isMirrored = other.address.isPresent() && capacity.arenaQuota == Capacity.NEAR_QUOTA;
        Capacity bounds = isMirrored ? new Capacity(capacity.slots, Capacity.REMOTE_QUOTA) : capacity;
        return new ClientSpec(channel, other, waiting, bounds, timeouts, sealing);
    }

    /** The same channel, to be connected in less time. */
    public ClientSpec within(Duration timeout) {
        return new ClientSpec(
                channel, place, waiting, capacity, new Timeouts(timeout, timeouts.call, timeouts.clock), sealing);
    }

    /** How calls end once this process has closed the channel. */
    public Status closedHere() {
        return Status.Code.CANCELLED.with("channel %s was closed here", channel);
    }
}
