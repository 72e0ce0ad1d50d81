package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.rpc.Route;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The number by which a connection's header tells observers how its calls travel. */
final class RouteNumber {
    private static final Map<Integer, Route.Kind> KINDS =
            Stream.of(Route.Kind.values()).collect(Collectors.toUnmodifiableMap(RouteNumber::of, each -> each));

    private RouteNumber() {}

    /** Never changes: an observer may be of another release. 0 stands for an unknown kind. */
    static int of(Route.Kind kind) {
        return switch (kind) {
            case PROCESS -> 1;
            case HOST -> 2;
            case POOL -> 3;
            case RDMA -> 4;
            case RDMA_QUEUES -> 5;
            case TCP -> 6;
            case TCP_QUEUES -> 7;
        };
    }

    /** The kind of that number; empty if there is none. */
    static Optional<Route.Kind> kind(int number) {
        return Optional.ofNullable(KINDS.get(number));
    }
}
