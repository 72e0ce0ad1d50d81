package dev.rackcall.cp;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/** One life of another host that virtual queues lead to: the way to it, and what is known of its memory regions. Any thread may use it. */
final class Peer {
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
    private final KnownRegions regions;
    private final AtomicInteger underWay = new AtomicInteger();
    private final LongAdder requests = new LongAdder();
    /** That of its own queue pair, if it has one. */
    private volatile Optional<Lane> preferred = Optional.empty();

    private volatile boolean silent;
    /** Virtual queues; guarded by {@link Peers}, as what follows. */
    private int queues;

    private boolean forgotten;

    Peer(HostId host, HostRecord record, Way way, RegionSource source, long validNanos) {
        this.host = host;
        this.record = record;
        this.way = way;
        regions = new KnownRegions(source, validNanos, System::nanoTime);
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

    /** What requests to it go over from now on. */
    Lane lane() {
        return preferred.orElse(way.lane());
    }

    /** Requests go over this lane from now on, as soon as nothing of their virtual queue is under way on another. */
    void prefer(Optional<Lane> own) {
        preferred = own;
    }

    /** Whether it shares a lane with other peers. */
    boolean isShared() {
        return way.target().isPresent() && !silent;
    }

    /** Whether it has a queue pair that leads to it alone, for all its requests. */
    boolean isConnected() {
        return way.target().isEmpty();
    }

    /** One more request. */
    void counts() {
        requests.increment();
    }

    /** Requests so far. */
    long requests() {
        return requests.sum();
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

    /** Whether the host may be another life by now, so that it has to be looked up before one more virtual queue leads there. */
    boolean isForgotten() {
        return forgotten;
    }

    void forgotten(boolean so) {
        forgotten = so;
    }

    boolean isIdle() {
        return queues == 0 && underWay.get() == 0;
    }

    /** What is known of its memory regions. */
    KnownRegions regions() {
        return regions;
    }

    @Override
    public String toString() {
        return host + " at " + record.gid() + ", epoch " + Integer.toHexString(record.epoch());
    }
}
