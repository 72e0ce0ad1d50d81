package dev.rackcall.grpc;

import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.Status;
import io.grpc.StatusOr;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A resolver that a test speaks for. */
final class SpokenResolver extends NameResolver {
    final AtomicInteger refreshes = new AtomicInteger();
    volatile Listener2 listener;
    volatile boolean hasEnded;
    private final String authority;

    SpokenResolver(String authority) {
        this.authority = authority;
    }

    @Override
    public String getServiceAuthority() {
        return authority;
    }

    @Override
    public void start(Listener2 given) {
        listener = given;
    }

    @Override
    public void refresh() {
        refreshes.incrementAndGet();
    }

    @Override
    public void shutdown() {
        hasEnded = true;
    }

    /** As older resolvers do: from any thread. */
    void finds(SocketAddress address) {
        listener.onResult(ResolutionResult.newBuilder()
                .setAddressesOrError(StatusOr.fromValue(List.of(new EquivalentAddressGroup(address))))
                .build());
    }

    void fails(String description) {
        listener.onError(Status.UNAVAILABLE.withDescription(description));
    }
}
