package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rdma.queue.QueueHosts;
import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import java.net.URI;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code kill -9} of an agent that carries calls, at either end. */
@Timeout(240)
class AgentProcessDeathTest extends RpcFixture {
    private static final int LIVES = Math.max(1, Integer.getInteger("rackcall.kills", 0) / 20);

    /** The last line of an agent process that has nothing left of its connections. */
    private static final String ONLY_A_TENANT = "tenants: 1, pieces of memory: 1";

    private AgentProcesses agents;
    private long mappings;
    private RpcServer server;

    @BeforeEach
    void open() throws Exception {
        agents = keep(new AgentProcesses(directory));
        mappings = QueueHosts.mappings();
        server = keep(EchoServer.at(URI.create("vq://" + QueueHosts.SERVER + ":0")));
    }

    private RpcChannel channel() {
        return EchoServer.channel(server);
    }

    @Test
    void shouldEndCallsWhenTheClientsAgentIsKilledAndGoOnWithTheNextOne() throws Exception {
        shouldEndCallsAndGoOn(agents.near);
    }

    @Test
    void shouldEndCallsWhenTheServersAgentIsKilledAndGoOnWithTheNextOne() throws Exception {
        shouldEndCallsAndGoOn(agents.far);
    }

    private void shouldEndCallsAndGoOn(AgentProcess killed) throws Exception {
        try (RpcChannel channel = channel()) {
            Echo echo = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(WaitingCalls.TIMEOUT));
            for (int life = 0; life < LIVES; life++) {
                assertThat(echo.add(life, 1)).isEqualTo(life + 1L);
                WaitingCalls waiting = WaitingCalls.of(echo);
                killed.kill();

                waiting.assertUnavailable();
                Await.equal("connections", 0, server::connections);
                assertFails(Status.Code.UNAVAILABLE, () -> echo.add(1, 1))
                        .hasMessageContaining(killed == agents.near ? "start ./rackcall agent" : "");
                killed.start();
                Await.until("the server is listened at again", () -> canAdd(echo));
            }
        }
        server.close();
        Await.until("the memory is unmapped", () -> QueueHosts.mappings() <= mappings);
        Await.equal("open hubs", 0, QueueHosts::openHubs);
        assertThat(agents.near.end()).isEqualTo(ONLY_A_TENANT);
        assertThat(agents.far.end()).isEqualTo(ONLY_A_TENANT);
    }

    /** The server's host and its listener are found a moment later than the agent. */
    private static boolean canAdd(Echo echo) {
        Status.Code code = codeOf(() -> assertThat(echo.add(1, 1)).isEqualTo(2));
        assertThat(code).isIn(Status.Code.OK, Status.Code.UNAVAILABLE);
        return code == Status.Code.OK;
    }

    @Test
    void shouldServeBothEndsOfAConnection() throws Exception {
        agents.far.use(true);
        try (RpcChannel channel = channel()) {
            assertThat(channel.stub(Echo.class).add(1, 1)).isEqualTo(2);
        }
        server.close();
        Await.equal("open hubs", 0, QueueHosts::openHubs);
        assertThat(agents.far.end()).isEqualTo(ONLY_A_TENANT);
    }
}
