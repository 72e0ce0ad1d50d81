package dev.rackcall.verbs.soft.responder;

import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.soft.queue.DeviceCore;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.LinkHello;
import dev.rackcall.verbs.soft.wire.SoftGid;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The links that other devices have made to this one. A link is half open until its hello proves the GID of its peer.
 * Each GID has one link at most. If there are too many links of a kind, one that is of the least use makes room.
 */
public final class ResponderLinks {
    /** Maximum number of half-open links, in addition to the links of accepted peers. */
    static final int MAX_HALF_OPEN = 128;

    private final DeviceCore device;
    private final int maxPeers;
    private final QueuePairs queuePairs;
    private final Supplier<Set<Gid>> connected;
    /** Oldest first. Guarded by the monitor. */
    private final Set<ResponderLink> halfOpen = new LinkedHashSet<>();

    private final Map<Gid, ResponderLink> accepted = new ConcurrentHashMap<>();

    /** The device's queue pairs by number. */
    public interface QueuePairs {
        /** The receiving half of a queue pair; null if there is none with this number. */
        ReceiveSide get(int number);

        /** Whether a queue pair has, or had until lately, this number. */
        boolean hasKnown(int number);
    }

    /** @param connected returns the peers to which queue pairs are connected */
    public ResponderLinks(DeviceCore device, int maxPeers, QueuePairs queuePairs, Supplier<Set<Gid>> connected) {
        this.device = device;
        this.maxPeers = maxPeers;
        this.queuePairs = queuePairs;
        this.connected = connected;
    }

    /** Returns a link for a connection from this remote address, or nothing to refuse it. */
    public Optional<ResponderLink> accept(InetSocketAddress from) {
        ResponderLink link = new ResponderLink(device, from, queuePairs, this);
        enter(link)
                .ifPresent(
                        oldest -> oldest.retire("makes room for newer ones: " + MAX_HALF_OPEN + " have no hello yet"));
        // After the link is in the set: a thread that takes the port down finds the link, or this check finds the port
        // down.
        if (device.faults().isPortDown()) {
            ended(link);
            return Optional.empty();
        }
        return Optional.of(link);
    }

    private synchronized Optional<ResponderLink> enter(ResponderLink link) {
        Optional<ResponderLink> oldest = halfOpen.size() < MAX_HALF_OPEN
                ? Optional.empty()
                : halfOpen.stream().findFirst();
        oldest.ifPresent(halfOpen::remove);
        halfOpen.add(link);
        return oldest;
    }

    /** Whether the hello is valid and proves its GID. */
    LinkHello.Answer judge(ResponderLink link, MemorySegment hello, long at) {
        if (LinkHello.version(hello, at) != FrameLayout.VERSION) {
            return LinkHello.Answer.OTHER_VERSION;
        }
        if (!LinkHello.target(hello, at).equals(device.gid())) {
            return LinkHello.Answer.OTHER_DEVICE;
        }
        Gid peer = LinkHello.source(hello, at);
        return SoftGid.isAt(peer, link.from()) && device.isProven(peer, LinkHello.proof(hello, at), link.peerKey())
                ? LinkHello.Answer.ACCEPTED
                : LinkHello.Answer.NOT_PROVEN;
    }

    /** Accepts the link of a peer that has proven its GID, if there is room. On the event loop. */
    LinkHello.Answer admit(ResponderLink link) {
        if (accepted.putIfAbsent(link.peer(), link) != null) {
            return LinkHello.Answer.GID_IN_USE;
        }
        if (accepted.size() > maxPeers && !makeRoom(link)) {
            accepted.remove(link.peer(), link);
            return LinkHello.Answer.TOO_MANY_PEERS;
        }
        synchronized (this) {
            halfOpen.remove(link);
        }
        if (link.isEnded()) {
            ended(link);
        }
        return LinkHello.Answer.ACCEPTED;
    }

    /** Ends the link that has been idle the longest among those that no queue pair uses. */
    private boolean makeRoom(ResponderLink newest) {
        Set<Gid> used = connected.get();
        Optional<ResponderLink> idle = accepted.values().stream()
                .filter(link -> link != newest && !link.converses() && !used.contains(link.peer()))
                .min(Comparator.comparingLong(ResponderLink::heard));
        idle.ifPresent(link -> link.retire("makes room for a newer peer: it is idle, and there are " + maxPeers));
        return idle.isPresent();
    }

    void ended(ResponderLink link) {
        synchronized (this) {
            halfOpen.remove(link);
        }
        accepted.remove(link.peer(), link);
    }

    /** Sends acknowledgements that were not requested. Never called with a monitor held. */
    public void acknowledgePending() {
        accepted.values().forEach(ResponderLink::acknowledgePending);
    }

    /** Called about ten times a second. */
    public void tick(long now) {
        List<ResponderLink> waiting;
        synchronized (this) {
            waiting = new ArrayList<>(halfOpen);
        }
        waiting.forEach(link -> link.expire(now));
        accepted.values().forEach(link -> link.tick(now));
    }

    public void end(String why) {
        List<ResponderLink> all;
        synchronized (this) {
            all = new ArrayList<>(halfOpen);
        }
        all.addAll(accepted.values());
        all.forEach(link -> link.end(why));
    }
}
