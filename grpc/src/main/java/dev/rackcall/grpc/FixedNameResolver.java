package dev.rackcall.grpc;

import io.grpc.EquivalentAddressGroup;
import io.grpc.NameResolver;
import io.grpc.StatusOr;
import java.util.List;

/** Gives gRPC the one address that a target names. */
final class FixedNameResolver extends NameResolver {
    private final RackcallSocketAddress address;

    FixedNameResolver(RackcallSocketAddress address) {
        this.address = address;
    }

    @Override
    public String getServiceAuthority() {
        return RackcallChannelBuilder.AUTHORITY;
    }

    @Override
    public void start(Listener2 listener) {
        listener.onResult2(ResolutionResult.newBuilder()
                .setAddressesOrError(StatusOr.fromValue(List.of(new EquivalentAddressGroup(address))))
                .build());
    }

    @Override
    public void shutdown() {
        // Nothing was begun.
    }
}
