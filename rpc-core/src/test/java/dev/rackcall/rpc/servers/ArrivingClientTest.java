package dev.rackcall.rpc.servers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.mirror.CopyCarriers;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A client that knows that it is connected, while no polling thread of its server has the connection yet. */
class ArrivingClientTest extends RpcFixture {
    private static final URI ADDRESS = URI.create("copy://arriving");

    private final CountDownLatch mayArrive = new CountDownLatch(1);

    @Test
    void shouldBeWaitedForWhenItsServerShutsDown() throws Exception {
        RpcServer server = serve(RpcServer.builder()
                .service(Echo.class, new EchoService())
                .runtimeFolder(directory)
                .listen(ADDRESS));
        CopyCarriers.holdConnections(ADDRESS, mayArrive);
        RpcChannel channel = open(channel("/test/echo").address(ADDRESS));
        CompletableFuture<Boolean> ended;
        try (Scope _ = channel.newScope()) {
            ended = Concurrently.start(() -> server.shutdown(Await.BOUND));
            Await.until("the shutdown to begin", () -> server.state() == RpcServer.State.DRAINING);
            assertThat(server.awaitTermination(Duration.ofMillis(300))).isFalse();
            mayArrive.countDown();
            Await.until("the channel has seen it", () -> channel.state() != RpcChannel.State.READY);
            assertThat(server.awaitTermination(Duration.ofMillis(300)))
                    .as("a scope is open")
                    .isFalse();
        }
        assertThat(ended).succeedsWithin(Await.BOUND).isEqualTo(true);
    }
}
