package dev.rackcall.verbs.soft.requester;

import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.Unreachable;
import dev.rackcall.verbs.soft.queue.DeviceCore;
import dev.rackcall.verbs.soft.wire.Network;
import dev.rackcall.verbs.soft.wire.SoftGid;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/** The links that a device has made, by target device. */
public final class RequesterLinks {
    private static final String PORT_DOWN = "the port is down";
    private static final int MAX_FAILURES = 256;

    private final DeviceCore device;
    private final Network network;
    private final IntFunction<? extends Sender> senders;
    private final Consumer<RequesterLink> ended;
    private final Map<Gid, RequesterLink> links = new ConcurrentHashMap<>();
    /** Why devices could not be reached, the last time. Oldest first; guarded by itself. */
    private final Map<Gid, Unreachable> failures = new LinkedHashMap<>();

    /**
     * @param senders finds a requester by its queue pair's number, or null
     * @param ended is called for each link that ends
     */
    public RequesterLinks(
            DeviceCore device, Network network, IntFunction<? extends Sender> senders, Consumer<RequesterLink> ended) {
        this.device = device;
        this.network = network;
        this.senders = senders;
        this.ended = ended;
    }

    /** Returns the link to that device; connects a new one if there is none or the last has ended. */
    RequesterLink linkTo(Gid target) {
        RequesterLink present = links.get(target);
        if (present != null && !present.isEnded()) {
            return present;
        }
        InetSocketAddress address = SoftGid.address(target);
        RequesterLink link = links.compute(target, (key, old) -> old == null || old.isEnded() ? newLink(target) : old);
        if (link.isFresh()) {
            // The link is in the map now: a thread that takes the port down finds it there, or the check below finds
            // the port down.
            if (device.faults().isPortDown()) {
                // Not on this thread: it may hold a queue pair's monitor, and the end is reported to all queue pairs.
                device.links().execute(() -> link.end(PORT_DOWN));
            } else {
                network.connect(SoftGid.address(device.gid()).getAddress(), address, link);
            }
        }
        return link;
    }

    private RequesterLink newLink(Gid target) {
        return new RequesterLink(device, target, senders, link -> {
            links.remove(link.target(), link);
            remember(link);
            ended.accept(link);
        });
    }

    private void remember(RequesterLink link) {
        synchronized (failures) {
            failures.remove(link.target());
            link.failure().ifPresent(why -> failures.put(link.target(), why));
            if (failures.size() > MAX_FAILURES) {
                failures.remove(failures.keySet().iterator().next());
            }
        }
    }

    /** Why the device could not be reached, if the last link to it ended before it was accepted. */
    public Optional<Unreachable> failure(Gid target) {
        RequesterLink present = links.get(target);
        if (present != null && present.isAccepted()) {
            return Optional.empty();
        }
        synchronized (failures) {
            return Optional.ofNullable(failures.get(target));
        }
    }

    public void end(String why) {
        links.values().forEach(link -> link.end(why));
    }
}
