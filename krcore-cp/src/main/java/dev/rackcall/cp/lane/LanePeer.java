package dev.rackcall.cp.lane;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.control.DcTarget;
import dev.rackcall.cp.request.KnownRegions;
import dev.rackcall.cp.request.PeerHost;
import dev.rackcall.cp.table.HostRecord;
import java.util.Optional;

/** A peer and the lane for requests to it. Any thread may use it. */
public final class LanePeer extends PeerHost implements AutoCloseable {
    private final Lane lane;
    private final Runnable release;
    /** The lane of the peer's own queue pair, if it has one. */
    private volatile Optional<Lane> preferred = Optional.empty();
    /** Virtual queues; guarded by {@link Peers}, with what follows. */
    private int queues;

    private boolean forgotten;

    /** @param release releases the lane and the address handle */
    LanePeer(
            HostId host,
            HostRecord record,
            Optional<DcTarget> target,
            KnownRegions regions,
            Lane lane,
            Runnable release) {
        super(host, record, target, regions);
        this.lane = lane;
        this.release = release;
    }

    /** The lane for its next requests. */
    Lane lane() {
        return preferred.orElse(lane);
    }

    /** Moves its requests to this lane. Each virtual queue changes lanes when none of its requests is in flight. */
    void prefer(Optional<Lane> own) {
        preferred = own;
    }

    void queues(int more) {
        queues += more;
    }

    /** Whether the host may have restarted, so that it must be looked up before another virtual queue is connected. */
    boolean isForgotten() {
        return forgotten;
    }

    void forgotten(boolean so) {
        forgotten = so;
    }

    boolean isIdle() {
        return queues == 0 && underWay().get() == 0;
    }

    /** Releases its lane, which no virtual queue uses any more. */
    @Override
    public void close() {
        release.run();
    }
}
