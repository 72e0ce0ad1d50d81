package dev.rackcall.cp.control;

import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Lives of hosts that the meta server does not have. One that has just restarted has nobody until they renew, so that only who is missing for a lease is gone. For one thread.
 */
public final class MissingCallers {
    /** A lease, in which whoever lives renews several times. */
    static final long LEASE_NANOS = TimeUnit.SECONDS.toNanos(5);

    /** Those that have ended themselves meanwhile are forgotten as the oldest. */
    private static final int MAX_KEPT = 1024;

    /** When each was missing for the first time, by {@link System#nanoTime}. */
    private final LinkedHashMap<HostLife, Long> since = new LinkedHashMap<>();

    /**
     * Whether that life of a host is over, for all that is known.
     *
     * @param epoch in which the meta server has the host now, if it has it
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
