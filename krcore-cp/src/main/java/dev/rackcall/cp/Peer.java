package dev.rackcall.cp;

import dev.rackcall.cp.TableReader.StaleTableException;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** One life of another host that virtual queues lead to: the way to it, and what is known of its memory regions. Any thread may use it. */
final class Peer {
    /** Regions of one peer that are known at a time; one more takes the place of the oldest. */
    private static final int KEPT_REGIONS = 16;

    /** The Optional is kept, too: requests are checked without making objects. */
    private record Known(int key, Optional<RegionRecord> region, long since) {}

    /**
     * The way to a peer.
     *
     * @param lane what requests go over
     * @param target where a lane to all peers sends them
     * @param close lets go of it
     */
    record Way(Lane lane, Optional<Target> target, Runnable close) {}

    private final HostId host;
    private final HostRecord record;
    private final Way way;
    private final RegionSource source;
    private final long validNanos;
    private final AtomicInteger underWay = new AtomicInteger();
    /** Replaced, never changed. */
    private volatile Known[] known = {};

    private volatile boolean silent;
    /** Virtual queues; guarded by {@link Peers}. */
    private int queues;

    Peer(HostId host, HostRecord record, Way way, RegionSource source, long validNanos) {
        this.host = host;
        this.record = record;
        this.way = way;
        this.source = source;
        this.validNanos = validNanos;
    }

    HostId host() {
        return host;
    }

    HostRecord record() {
        return record;
    }

    /** Its DC target; only if {@link #lane} is one that needs it. */
    Target target() {
        return way.target().orElseThrow();
    }

    /** What requests to it go over. */
    Lane lane() {
        return way.lane();
    }

    /** Closes the way to it, which nobody uses any more. */
    void close() {
        way.close().run();
    }

    /** Requests at a queue pair that are meant for it. */
    AtomicInteger underWay() {
        return underWay;
    }

    /** Whether it did not answer, so that nothing more is sent to it. */
    boolean isSilent() {
        return silent;
    }

    void fellSilent() {
        silent = true;
    }

    void queues(int more) {
        queues += more;
    }

    boolean isIdle() {
        return queues == 0 && underWay.get() == 0;
    }

    /**
     * What the peer says about the region of this key, at most as old as the expiry.
     *
     * @return empty if it has no such region
     */
    Optional<RegionRecord> region(int key) throws StaleTableException {
        long now = System.nanoTime();
        for (Known candidate : known) {
            if (candidate.key() == key && now - candidate.since() < validNanos) {
                return candidate.region();
            }
        }
        Optional<RegionRecord> found = source.find(key);
        if (found.isPresent()) {
            keep(new Known(key, found, now));
        }
        return found;
    }

    /** Whether {@link #region} asks nobody. */
    boolean knows(int key) {
        long now = System.nanoTime();
        for (Known candidate : known) {
            if (candidate.key() == key && now - candidate.since() < validNanos) {
                return true;
            }
        }
        return false;
    }

    private synchronized void keep(Known fresh) {
        Known[] old = known;
        Known[] next = new Known[KEPT_REGIONS];
        next[0] = fresh;
        int count = 1;
        for (int i = 0; i < old.length && count < KEPT_REGIONS; i++) {
            if (old[i].key() != fresh.key()) {
                next[count++] = old[i];
            }
        }
        known = Arrays.copyOf(next, count);
    }

    /** Nothing is known of its regions any more. */
    void doubt() {
        known = new Known[0];
    }

    @Override
    public String toString() {
        return host + " at " + record.gid() + ", epoch " + Integer.toHexString(record.epoch());
    }
}
