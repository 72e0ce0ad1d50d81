package dev.rackcall.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rdma.queue.QueueHosts;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract of calls over virtual queues of agents that are other processes. */
class AgentProcessCallContractTest extends CallContractTest {
    private static final AtomicInteger PORTS = new AtomicInteger();
    private static AgentProcesses agents;

    private final URI address = URI.create("vq://" + QueueHosts.SERVER + ":" + PORTS.incrementAndGet());

    /** As with agents of this process: {@link QueueCallContractTest}. */
    static List<Mode> modes() {
        return List.of(
                new Mode(Dispatch.virtualThreads(), WaitStrategy.adaptive()),
                new Mode(Dispatch.direct(), WaitStrategy.blocking()));
    }

    @BeforeAll
    static void open(@TempDir Path parent) throws Exception {
        agents = new AgentProcesses(parent);
    }

    @AfterAll
    static void end() {
        Await.equal("exchanges that are open", 0, QueueHosts::openExchanges);
        agents.close();
    }

    @Override
    RpcServer.Builder place(RpcServer.Builder server) {
        return super.place(server).listen(address);
    }

    @Override
    RpcChannel.Builder place(RpcChannel.Builder channel) {
        return super.place(channel).address(address).arenaQuota(8 << 20);
    }

    @Test
    @Override
    void shouldSayWhatIsWrongWithAChannelThatNobodyServes() {
        RpcException nobody = catchThrowableOfType(
                RpcException.class, () -> place(RpcChannel.builder("/no/such")).open());
        assertThat(nobody.code()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(nobody).hasMessageContaining(address.toString());
    }
}
