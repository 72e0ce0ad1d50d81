package dev.rackcall.cp.lane;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.request.PeerHost;
import dev.rackcall.cp.table.HostRecord;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Connected peers, and recently disconnected ones in LRU order. Any thread may use it. */
public final class Peers implements AutoCloseable {
    private final int keptIdle;
    private final Map<HostId, LanePeer> current = new LinkedHashMap<>(16, 0.75f, true);
    /** Peers of former lives that are still in use. */
    private final List<LanePeer> former = new ArrayList<>();

    public Peers(int keptIdle) {
        this.keptIdle = keptIdle;
    }

    /** The peer, for one more virtual queue, unless it was forgotten. */
    public synchronized Optional<LanePeer> acquire(HostId host) {
        LanePeer known = current.get(host);
        if (known == null || known.isForgotten()) {
            return Optional.empty();
        }
        known.queues(1);
        return Optional.of(known);
    }

    /**
     * As {@link #acquire(HostId)}, but connects the peer if it is missing. A forgotten peer is reused if its record is
     * unchanged.
     */
    public synchronized LanePeer acquire(HostId host, HostRecord record, Function<HostId, LanePeer> maker) {
        LanePeer known = current.get(host);
        if (known != null && known.isForgotten()) {
            if (known.record().equals(record)) {
                known.forgotten(false);
            } else {
                retire(known);
            }
        }
        LanePeer peer = current.computeIfAbsent(host, maker);
        peer.queues(1);
        evict();
        return peer;
    }

    public synchronized void release(LanePeer peer) {
        peer.queues(-1);
        evict();
    }

    /**
     * The peer for a life of the host that is not the current one, for one more virtual queue; connects it if it
     * is missing. Other lookups do not return such a peer.
     */
    public synchronized LanePeer acquireFormer(HostId host, int epoch, Function<HostId, LanePeer> maker) {
        LanePeer peer = former.stream()
                .filter(each -> each.host().equals(host) && each.record().epoch() == epoch && !each.isSilent())
                .findFirst()
                .orElseGet(() -> {
                    LanePeer made = maker.apply(host);
                    former.add(made);
                    return made;
                });
        peer.queues(1);
        return peer;
    }

    /** The current peers. */
    synchronized List<LanePeer> all() {
        return List.copyOf(current.values());
    }

    /** Excludes this peer from further lookups. */
    public synchronized void retire(PeerHost peer) {
        LanePeer known = current.get(peer.host());
        if (known == peer) {
            current.remove(peer.host());
            former.add(known);
        }
    }

    /**
     * Makes the next virtual queue to this host look the host up again. If the record is unchanged, the existing queue
     * pair is reused.
     */
    public synchronized void forget(HostId host) {
        LanePeer known = current.get(host);
        if (known != null && known.isIdle() && !known.isConnected()) {
            current.remove(host);
            known.close();
        } else if (known != null) {
            known.forgotten(true);
        }
    }

    /** As {@link #forget}, and closes the queue pair if no virtual queue uses it. */
    public synchronized void disconnect(HostId host) {
        forget(host);
        LanePeer known = current.get(host);
        if (known != null && known.isIdle()) {
            current.remove(host);
            known.close();
        }
    }

    public synchronized void sweep() {
        former.removeIf(peer -> {
            boolean idle = peer.isIdle();
            if (idle) {
                peer.close();
            }
            return idle;
        });
    }

    private void evict() {
        if (current.size() <= keptIdle) {
            return;
        }
        Iterator<LanePeer> eldest = current.values().iterator();
        for (int excess = current.size() - keptIdle; excess > 0 && eldest.hasNext(); excess--) {
            LanePeer peer = eldest.next();
            if (peer.isIdle()) {
                peer.close();
                eldest.remove();
            }
        }
    }

    /** Closes all peers, after the queue pairs that used them. */
    @Override
    public synchronized void close() {
        current.values().forEach(peer -> peer.close());
        former.forEach(peer -> peer.close());
        current.clear();
        former.clear();
    }
}
