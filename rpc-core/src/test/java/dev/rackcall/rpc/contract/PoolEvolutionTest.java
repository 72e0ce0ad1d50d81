package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.pool.TwoHosts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Versions between two hosts that share only a pool. */
class PoolEvolutionTest extends EvolutionTest {
    private static TwoHosts hosts;

    @BeforeAll
    static void makeHosts() {
        hosts = TwoHosts.create();
    }

    @AfterAll
    static void closeHosts() {
        hosts.close();
    }

    @Override
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return server.pool(hosts.first());
    }

    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder channel) {
        return channel.pool(hosts.second());
    }
}
