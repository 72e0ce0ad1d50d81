package dev.rackcall.cp.agent;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.control.ControlMessage;
import dev.rackcall.cp.control.ControlPort;
import dev.rackcall.cp.lane.LanePeer;
import dev.rackcall.cp.lane.Lanes;
import dev.rackcall.cp.lane.Peers;
import dev.rackcall.cp.meta.MetaClient;
import dev.rackcall.cp.request.PeerHost;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.cp.table.MetadataCache;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Optional;

/**
 * Finds the peer for a new virtual queue: a connected peer, or else the host's record from the cache, the meta server,
 * or the host itself. Any thread may use it.
 */
final class PeerLookup {
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final ControlPort port;
    private final Optional<MetaClient> meta;
    private final Lanes lanes;
    private final Peers peers;
    private final MetadataCache cache = new MetadataCache();

    PeerLookup(ControlPort port, Optional<MetaClient> meta, Lanes lanes, Peers peers) {
        this.port = port;
        this.meta = meta;
        this.lanes = lanes;
        this.peers = peers;
    }

    MetadataCache cache() {
        return cache;
    }

    /** The peer for one more virtual queue; empty if another host would have to be queried. */
    Optional<LanePeer> knownPeer(HostId host) {
        Optional<LanePeer> known = peers.acquire(host);
        return known.isPresent() ? known : cache.find(host).map(record -> peer(host, record));
    }

    /**
     * The peer for one more virtual queue.
     *
     * @param address of the host itself, which is queried if the meta server does not find it
     */
    LanePeer peer(HostId host, Optional<ControlAddress> address) {
        Optional<LanePeer> known = knownPeer(host);
        return known.isPresent() ? known.get() : peer(host, lookUp(host, address));
    }

    /** The peer for one more virtual queue, to a host that has sent its record itself. */
    LanePeer peerOf(HostId host, HostRecord record) {
        LanePeer known = peer(host, record);
        if (known.record().epoch() == record.epoch()) {
            return known;
        }
        // The record is of another life than the known peer, earlier or later: the next request finds out.
        peers.release(known);
        return peers.acquireFormer(host, record.epoch(), name -> lanes.to(name, record));
    }

    /** Takes the regions that a message names. Never waits. */
    void learn(PortMessage message) {
        LanePeer sender = peerOf(message.host(), message.record());
        try {
            message.regions().forEach(sender.regions()::introduced);
        } finally {
            release(sender);
        }
    }

    private LanePeer peer(HostId host, HostRecord record) {
        return peers.acquire(host, record, name -> lanes.to(name, record));
    }

    private HostRecord lookUp(HostId host, Optional<ControlAddress> address) {
        Optional<HostRecord> found = Optional.empty();
        if (meta.isPresent()) {
            try {
                found = meta.get().find(host);
            } catch (ControlPlaneException e) {
                if (address.isEmpty()) {
                    throw e;
                }
            }
        }
        if (found.isEmpty()) {
            found = Optional.of(describe(
                    host,
                    address.orElseThrow(() -> new ControlPlaneException(
                            Kind.UNKNOWN_HOST,
                            (meta.isPresent()
                                            ? "the meta server does not know "
                                            : "there is no meta server to ask for ")
                                    + host + "; check that its agent runs, or connect with its control address"))));
        }
        cache.put(host, found.get());
        return found.get();
    }

    private HostRecord describe(HostId host, ControlAddress address) {
        byte[] name = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(host.value())
                .array();
        return HostRecord.read(port.ask(address, ControlMessage.DESCRIBE, name, PATIENCE));
    }

    /** A virtual queue to this peer was closed. */
    void release(LanePeer peer) {
        peers.release(peer);
    }

    /** This life of a peer may be over, so the next connection to the host looks it up again. */
    void doubt(PeerHost peer) {
        peer.regions().clear();
        // The cache first: a thread that connects meanwhile finds either this peer or a fresh record.
        meta.ifPresent(MetaClient::doubt);
        cache.remove(peer.host(), peer.record().epoch());
        peers.retire(peer);
    }

    /** As {@link Agent#forget}. */
    void forget(HostId host) {
        cache.find(host).ifPresent(record -> cache.remove(host, record.epoch()));
        peers.forget(host);
    }

    /** As {@link Agent#disconnect}. */
    void disconnect(HostId host) {
        cache.find(host).ifPresent(record -> cache.remove(host, record.epoch()));
        peers.disconnect(host);
    }
}
