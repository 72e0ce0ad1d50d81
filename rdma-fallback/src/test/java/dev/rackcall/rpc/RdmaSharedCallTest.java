package dev.rackcall.rpc;

import java.net.URI;

/** Shared objects by pointer, over RDMA: where {@link RdmaCallContractTest} runs. */
class RdmaSharedCallTest extends SharedArenaCallTest {
    private final URI address = RdmaCallContractTest.address();

    @Override
    RpcServer.Builder place(RpcServer.Builder server) {
        return super.place(server).listen(address);
    }

    @Override
    RpcChannel.Builder place(RpcChannel.Builder channel) {
        return super.place(channel).address(address).arenaQuota(8 << 20);
    }
}
