package dev.rackcall.rpc.death;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * A host that stops sending heartbeats. The test unmaps its pool, because another host sees no more than that of a lost
 * host.
 */
class PoolDeathTest extends RpcFixture {
    private final TwoHosts hosts = keep(TwoHosts.create());

    private RpcServer serve(Pool pool) {
        return serve(pool, new EchoService());
    }

    private RpcServer serve(Pool pool, EchoService service) {
        return serve(RpcServer.builder()
                .service(Echo.class, service)
                .dispatch(Dispatch.virtualThreads())
                .pool(pool));
    }

    private static RpcChannel.Builder channel(Pool pool) {
        return RpcChannel.builder("/test/echo").pool(pool);
    }

    @Test
    void shouldEndCallsWhoseServersHostIsGoneAndConnectToItsSuccessor() {
        Pool doomed = hosts.host(0);
        EchoService service = new EchoService();
        serve(doomed, service);
        RpcChannel channel = open(channel(hosts.second()));
        Echo echo = channel.stub(Echo.class, within(Duration.ofSeconds(40)));
        assertThat(echo.add(1, 1)).isEqualTo(2);
        CompletableFuture<Integer> asynchronous = echo.later(1, 60_000);
        CompletableFuture<Status.Code> blocked = Concurrently.start(() -> codeOf(() -> echo.block(60_000)));
        // The handler hears that the connection has ended, and returns; the caller must not take that for its
        // answer.
        Await.until("the call is under way", () -> service.blocking.get() == 1);
        doomed.close();

        assertThat(blocked.join()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThatThrownBy(asynchronous::join).hasMessageContaining("UNAVAILABLE");
        RpcServer next = serve(hosts.first());
        assertThat(echo.add(2, 2)).isEqualTo(4);
        assertThat(next.connections()).isEqualTo(1);
    }

    @Test
    void shouldLetGoOfAClientWhoseHostIsGoneOnceItIsReclaimed() {
        Pool doomed = hosts.host(2);
        RpcServer server = serve(hosts.first());
        RpcChannel channel = open(channel(doomed));
        assertThat(channel.stub(Echo.class).add(1, 1)).isEqualTo(2);
        long held = hosts.first().arena().usedBytes();
        doomed.close();
        Await.until("the client counts as gone", () -> server.connections() == 0);
        // It may only be slow, so its memory is not given to others.
        assertThat(hosts.first().arena().usedBytes()).isGreaterThan(held / 2);
        hosts.first().reclaimHost(2);
        Await.until("its memory is back", () -> hosts.first().arena().usedBytes() < held / 2);
    }

    @Test
    void shouldSayThatAPoolOfOneHostHasNoOthers() {
        try (Pool alone = Pool.memfd("alone", 1 << 20)) {
            assertFails(Status.Code.FAILED_PRECONDITION, () -> serve(alone))
                    .hasMessageContaining("Pool.dax(path, host)");
            assertThatThrownBy(channel(alone)::open).hasMessageContaining("Pool.dax(path, host)");
        }
    }

    @Test
    void shouldNotWaitForAServerThatIsGone() {
        Pool doomed = hosts.host(0);
        serve(doomed);
        doomed.close();
        assertFails(Status.Code.UNAVAILABLE, channel(hosts.second()).connectTimeout(Duration.ofMillis(100))::open)
                .hasMessageContainingAll("/test/echo", "gone with its host");
    }
}
