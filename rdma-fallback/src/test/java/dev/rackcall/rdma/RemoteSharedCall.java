package dev.rackcall.rdma;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.SharedArenaCallTest;
import dev.rackcall.testkit.Await;
import java.net.URI;

/** Shared objects by pointer, between peers that share no memory. */
abstract class RemoteSharedCall extends SharedArenaCallTest {
    private final URI address;

    /** At a new address for each test. */
    RemoteSharedCall(Place place) {
        address = place.address();
    }

    @Override
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return Place.at(address, super.place(server));
    }

    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder channel) {
        // On an overloaded machine, the first attempt may exceed time limits of the control plane or the server.
        return Place.at(address, super.place(channel)).waitForReady(Await.BOUND);
    }
}
