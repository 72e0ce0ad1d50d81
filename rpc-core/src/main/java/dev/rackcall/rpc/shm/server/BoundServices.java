package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;

/**
 * The services of a server that one client calls over one connection, by their numbers there: first the one that it has
 * connected to, then those that it has bound since. Thread-safe: a request may be dispatched by a relieved poller while
 * its successor binds.
 */
final class BoundServices {
    private final ServiceBinding first;
    /** Makes the binding of a channel for this client; empty if there is none. Throws if the client may not have it. */
    private final Function<String, Optional<ServiceBinding>> others;

    /** Replaced, never changed. Written with this object's lock held. */
    private volatile ServiceBinding[] services;

    BoundServices(ServiceBinding first, Function<String, Optional<ServiceBinding>> others) {
        this.first = first;
        this.others = others;
        this.services = new ServiceBinding[] {first};
    }

    ServiceBinding first() {
        return first;
    }

    /**
     * The service of a request.
     *
     * @param number which came from the client
     * @throws ProtocolBreachException if the client has not bound such a service
     */
    ServiceBinding get(int number) throws ProtocolBreachException {
        if (number == 0) {
            return first;
        }
        ServiceBinding[] bound = services;
        if (number >= bound.length) {
            throw new ProtocolBreachException("a request to service " + number + ", but it has bound "
                    + (bound.length - 1) + " services besides the one it has connected to");
        }
        return bound[number];
    }

    /**
     * Lets the client call another service; returns its number, which is the same each time.
     *
     * @throws RpcException NOT_FOUND if the server has no such channel, PERMISSION_DENIED if the client may not use it,
     *     RESOURCE_EXHAUSTED if it has bound too many
     */
    synchronized int bind(String channel) {
        for (int i = 0; i < services.length; i++) {
            if (services[i].channel().equals(channel)) {
                return i;
            }
        }
        if (services.length == SlotLayout.MAX_SERVICES) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "channel %s: its connection has %d services; open another channel for more",
                            first.channel(), services.length)
                    .asException();
        }
        ServiceBinding service = others.apply(channel)
                .orElseThrow(() -> Status.Code.NOT_FOUND
                        .with("the server of channel %s has no channel %s", first.channel(), channel)
                        .asException());
        ServiceBinding[] more = Arrays.copyOf(services, services.length + 1);
        more[more.length - 1] = service;
        services = more;
        return more.length - 1;
    }
}
