package dev.rackcall.verbs.soft.responder;

import dev.rackcall.verbs.soft.queue.DeviceCore;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.LinkHello;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;

/** The links that other devices have made to this one. */
public final class ResponderLinks {
    /** Maximum number of links that wait for a hello, in addition to the links of connected peers. */
    private static final int MAX_NEWCOMERS = 16;

    private final DeviceCore device;
    private final int maxPeers;
    private final IntFunction<ReceiveSide> receivers;
    private final Set<ResponderLink> links = ConcurrentHashMap.newKeySet();

    /** @param receivers finds a queue pair's receiving half by the queue pair's number, or null */
    public ResponderLinks(DeviceCore device, int maxPeers, IntFunction<ReceiveSide> receivers) {
        this.device = device;
        this.maxPeers = maxPeers;
        this.receivers = receivers;
    }

    /** Returns a link for a connection from this remote address, or nothing to refuse it. */
    public Optional<ResponderLink> accept(String from) {
        if (links.size() >= maxPeers + MAX_NEWCOMERS) {
            return Optional.empty();
        }
        ResponderLink link = new ResponderLink(device, from, receivers, this);
        links.add(link);
        // After the link is in the set: a thread that takes the port down finds the link, or this check finds the port
        // down.
        if (device.faults().isPortDown()) {
            links.remove(link);
            return Optional.empty();
        }
        return Optional.of(link);
    }

    LinkHello.Answer judge(MemorySegment hello, long at) {
        if (LinkHello.version(hello, at) != FrameLayout.VERSION) {
            return LinkHello.Answer.OTHER_VERSION;
        }
        if (!LinkHello.target(hello, at).equals(device.gid())) {
            return LinkHello.Answer.OTHER_DEVICE;
        }
        return links.size() > maxPeers ? LinkHello.Answer.TOO_MANY_PEERS : LinkHello.Answer.ACCEPTED;
    }

    void ended(ResponderLink link) {
        links.remove(link);
    }

    /** Sends acknowledgements that were not requested. Never called with a monitor held. */
    public void acknowledgePending() {
        links.forEach(ResponderLink::acknowledgePending);
    }

    /** Ends all links. */
    public void end(String why) {
        links.forEach(link -> link.end(why));
    }
}
