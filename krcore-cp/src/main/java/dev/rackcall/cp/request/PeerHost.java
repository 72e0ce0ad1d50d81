package dev.rackcall.cp.request;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.control.DcTarget;
import dev.rackcall.cp.table.HostRecord;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * One life of another host: its record, its known memory regions, and its requests in flight. Any thread may use it.
 */
public class PeerHost {
    private final HostId host;
    private final HostRecord record;
    private final Optional<DcTarget> target;
    private final KnownRegions regions;
    private final AtomicInteger underWay = new AtomicInteger();
    private final LongAdder requests = new LongAdder();
    private volatile boolean silent;

    /** @param target the DC target that shared lanes address; empty if the peer has a queue pair of its own */
    public PeerHost(HostId host, HostRecord record, Optional<DcTarget> target, KnownRegions regions) {
        this.host = host;
        this.record = record;
        this.target = target;
        this.regions = regions;
    }

    public final HostId host() {
        return host;
    }

    public final HostRecord record() {
        return record;
    }

    /** Its DC target; only if its lane is shared. */
    public final DcTarget target() {
        return target.orElseThrow();
    }

    /** Whether it shares a lane with other peers. */
    public final boolean isShared() {
        return target.isPresent() && !silent;
    }

    /** Whether all its requests go over a queue pair that is connected to this peer only. */
    public final boolean isConnected() {
        return target.isEmpty();
    }

    /** Counts one more request. */
    public final void countRequest() {
        requests.increment();
    }

    /** Requests so far. */
    public final long requests() {
        return requests.sum();
    }

    /** Requests to it that are in flight. */
    public final AtomicInteger underWay() {
        return underWay;
    }

    /** Whether it has stopped responding, so that nothing more is sent to it. */
    public final boolean isSilent() {
        return silent;
    }

    public final void fellSilent() {
        silent = true;
    }

    /** Its known memory regions. */
    public final KnownRegions regions() {
        return regions;
    }

    @Override
    public final String toString() {
        return host + " at " + record.gid() + ", epoch " + Integer.toHexString(record.epoch());
    }
}
