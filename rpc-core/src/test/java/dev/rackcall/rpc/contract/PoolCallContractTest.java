package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

/** The contract of calls between two hosts that share only a pool. */
class PoolCallContractTest extends CallContractTest {
    /** Of the channels of both services. */
    private static final long DOOR_BYTES = 2 * 4096;

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
    @AfterEach
    protected void closeAll() throws Exception {
        super.closeAll();
        // The last handler of a connection that has ended gives its memory back.
        Await.until(
                "what connections left behind is no more than the channels' doors",
                () -> hosts.first().arena().usedBytes() <= DOOR_BYTES);
    }

    @Override
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return server.pool(hosts.first());
    }

    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder channel) {
        return channel.pool(hosts.second());
    }

    @Override
    protected String whereToLook() {
        return "this pool";
    }
}
