package dev.rackcall.route;

import dev.rackcall.directory.Endpoint;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.spi.CarrierProvider;
import java.net.URI;
import java.util.List;
import java.util.Optional;

/**
 * The routes over a network: which addresses of an endpoint belong to which route, and the obstacles of each route.
 * Both ends must have a device of the same kind, hardware or software. For each kind an endpoint may have addresses for
 * virtual queues and for queue pairs.
 */
final class NetworkRoutes {
    private static final String QUEUES = "vq";

    private NetworkRoutes() {}

    /** The endpoint's addresses for this route, in the server's order of preference. */
    static List<URI> addresses(Endpoint endpoint, Kind kind) {
        return addresses(endpoint, isHardware(kind)).stream()
                .filter(address -> isQueue(address) == kind.isQueue())
                .toList();
    }

    private static boolean isQueue(URI address) {
        return QUEUES.equals(address.getScheme());
    }

    private static List<URI> addresses(Endpoint endpoint, boolean hardware) {
        return hardware ? endpoint.rdma() : endpoint.tcp();
    }

    private static boolean isHardware(Kind kind) {
        return kind == Kind.RDMA_QUEUES || kind == Kind.RDMA;
    }

    /** Why the endpoint has no address for this route. */
    static String notAnnounced(Endpoint endpoint, Kind kind) {
        boolean hardware = isHardware(kind);
        if (!addresses(endpoint, hardware).isEmpty()) {
            if (addresses(endpoint, !hardware).stream().anyMatch(address -> isQueue(address) == kind.isQueue())) {
                return "its server's " + (kind.isQueue() ? "virtual queues" : "own queue pairs") + " are those of "
                        + (hardware ? "a software device" : "an RDMA device");
            }
            return kind.isQueue() ? "its server listens at no vq:// address" : "its server listens at vq:// only";
        }
        if (hardware) {
            return "its server announces no RDMA device";
        }
        return endpoint.rdma().isEmpty()
                ? "its server does not listen for clients that share no memory with it"
                : "its server listens by its RDMA device";
    }

    /** The modules that are missing here. */
    static String withoutProvider(Kind kind) {
        return kind.isQueue()
                ? "rackcall-rdma and rackcall-control-plane are not both on the class path here"
                : "rackcall-rdma is not on the class path here";
    }

    /** How the devices of both ends differ in kind; empty if they do not. Searches for devices. */
    static Optional<String> unlike(Kind kind, CarrierProvider provider, URI address) {
        if (provider.isAlike(address, isHardware(kind))) {
            return Optional.empty();
        }
        return Optional.of(
                switch (kind) {
                    case RDMA_QUEUES -> "the control plane's agent here has no RDMA device";
                    case TCP_QUEUES -> "the control plane's agent here has an RDMA device, and the server's has none";
                    case RDMA -> "this host has no RDMA device";
                    default -> "this host would use its RDMA device, and the server has none";
                });
    }

    /** Why a route is not needed while a better one works. */
    static String whyNotNeeded(Kind kind, Kind better) {
        boolean beside =
                !kind.isMemory() && !kind.isQueue() && better.isQueue() && isHardware(kind) == isHardware(better);
        return beside
                ? "virtual queues work, which are there at once and share queue pairs"
                : "a better route works: " + better;
    }
}
