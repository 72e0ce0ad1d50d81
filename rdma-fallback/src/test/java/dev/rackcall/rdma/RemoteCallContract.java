package dev.rackcall.rdma;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.CallContractTest;
import dev.rackcall.testkit.Await;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The contract of calls to peers that share no memory. */
abstract class RemoteCallContract extends CallContractTest {
    private final URI address;

    /** At a new address for each test. */
    RemoteCallContract(Place place) {
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

    @Test
    @Override
    protected void shouldReportAChannelWithoutServer() {
        RpcChannel.Builder channel = place(RpcChannel.builder("/no/such")).waitForReady(Duration.ZERO);
        assertFails(Status.Code.UNAVAILABLE, channel::open).hasMessageContaining(address.toString());
    }
}
