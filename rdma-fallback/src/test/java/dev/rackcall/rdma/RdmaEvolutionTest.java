package dev.rackcall.rdma;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.EvolutionTest;
import dev.rackcall.testkit.Await;
import java.net.URI;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Versions over RDMA. */
class RdmaEvolutionTest extends EvolutionTest {
    @RegisterExtension
    static final Place PLACE = Place.rdma();

    private final URI address = PLACE.address();

    @Override
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return Place.at(address, super.place(server));
    }

    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder channel) {
        // On an overloaded machine, the first attempt may exceed the time limits.
        return Place.at(address, super.place(channel)).waitForReady(Await.BOUND);
    }
}
