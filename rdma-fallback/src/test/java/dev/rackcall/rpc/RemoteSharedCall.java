package dev.rackcall.rpc;

import java.net.URI;

/** Shared objects by pointer, between peers that share no memory. */
abstract class RemoteSharedCall extends SharedArenaCallTest {
    private final URI address;

    /** At a new address for each test. */
    RemoteSharedCall(Place place) {
        address = place.address();
    }

    @Override
    RpcServer.Builder place(RpcServer.Builder server) {
        return Place.at(address, super.place(server));
    }

    @Override
    RpcChannel.Builder place(RpcChannel.Builder channel) {
        return Place.at(address, super.place(channel));
    }
}
