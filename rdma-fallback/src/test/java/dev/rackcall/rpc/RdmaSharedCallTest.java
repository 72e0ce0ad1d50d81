package dev.rackcall.rpc;

import dev.rackcall.rdma.FreePort;
import java.net.URI;

/** Shared objects by pointer, over RDMA. */
class RdmaSharedCallTest extends SharedArenaCallTest {
    private final URI address = URI.create("rdma://127.0.0.1:" + FreePort.find());

    @Override
    RpcServer.Builder place(RpcServer.Builder server) {
        return super.place(server).listen(address);
    }

    @Override
    RpcChannel.Builder place(RpcChannel.Builder channel) {
        return super.place(channel).address(address).arenaQuota(8 << 20);
    }
}
