package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rdma.queue.QueueHosts;
import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.testkit.Await;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code kill -9} of an agent that carries calls, at either end. */
@Timeout(240)
class AgentProcessDeathTest {
    private static final int LIVES = Math.max(1, Integer.getInteger("rackcall.kills", 0) / 20);

    /** The last line of an agent process that has nothing left of its connections. */
    private static final String ONLY_A_TENANT = "tenants: 1, pieces of memory: 1";

    @TempDir
    Path parent;

    private AgentProcesses agents;
    private long mappings;
    private RpcServer server;

    @BeforeEach
    void open() throws Exception {
        agents = new AgentProcesses(parent);
        mappings = QueueHosts.mappings();
        server = EchoServer.at(URI.create("vq://" + QueueHosts.SERVER + ":0"));
    }

    @AfterEach
    void close() {
        server.close();
        agents.close();
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
                RpcException none = catchThrowableOfType(RpcException.class, () -> echo.add(1, 1));
                assertThat(none.code()).isEqualTo(Status.Code.UNAVAILABLE);
                if (killed == agents.near) {
                    assertThat(none).hasMessageContaining("start ./rackcall agent");
                }
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
        try {
            return echo.add(1, 1) == 2;
        } catch (RpcException e) {
            assertThat(e.code()).isEqualTo(Status.Code.UNAVAILABLE);
            return false;
        }
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
