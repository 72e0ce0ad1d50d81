package dev.rackcall.rdma;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.CallContractTest;
import java.net.URI;
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
        return Place.at(address, super.place(channel));
    }

    @Test
    @Override
    protected void shouldReportAChannelWithoutServer() {
        assertFails(Status.Code.UNAVAILABLE, place(RpcChannel.builder("/no/such"))::open)
                .hasMessageContaining(address.toString());
    }
}
