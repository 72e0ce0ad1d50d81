package dev.rackcall.cp.control;

import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Tracks hosts that are missing at the meta server. All are missing after it has restarted, until they renew; a host
 * counts as gone only when it has been missing for a lease. For one thread.
 */
public final class MissingCallers {
    /** A lease, during which a living host renews several times. */
    static final long LEASE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Beyond this, the oldest entry is dropped. */
    private static final int MAX_KEPT = 1024;

    /** When each life was first missing, by {@link System#nanoTime}. */
    private final LinkedHashMap<HostLife, Long> since = new LinkedHashMap<>();

    /**
     * Whether this life of a host is over, as far as can be known.
     *
     * @param epoch of the host at the meta server, if the host is registered there
     * @param now by {@link System#nanoTime}
     */
    public boolean isGone(HostLife life, Optional<Integer> epoch, long now) {
        if (epoch.isPresent()) {
            since.remove(life);
            return epoch.get() != life.epoch();
        }
        Long first = since.putIfAbsent(life, now);
        if (since.size() > MAX_KEPT) {
            since.pollFirstEntry();
        }
        boolean gone = first != null && now - first >= LEASE_NANOS;
        if (gone) {
            since.remove(life);
        }
        return gone;
    }
}
