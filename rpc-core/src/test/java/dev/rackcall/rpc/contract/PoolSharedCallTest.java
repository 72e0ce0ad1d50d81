package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.pool.TwoHosts;
import org.junit.jupiter.api.AfterEach;

/** Shared objects by pointer between two hosts that share only a pool. */
class PoolSharedCallTest extends SharedArenaCallTest {
    private final TwoHosts hosts = TwoHosts.create();

    @Override
    @AfterEach
    protected void closeAll() throws Exception {
        super.closeAll();
        hosts.close();
    }

    @Override
    protected RpcServer.Builder place(RpcServer.Builder builder) {
        return builder.pool(hosts.first());
    }

    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder builder) {
        return builder.pool(hosts.second());
    }
}
