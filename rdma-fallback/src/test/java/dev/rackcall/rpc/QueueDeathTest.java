package dev.rackcall.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rdma.queue.QueueHosts;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code kill -9} of a peer over virtual queues, where no connection of the kernel's tells of it. */
@Timeout(240)
class QueueDeathTest {
    private static final int KILLS = Math.max(1, Integer.getInteger("rackcall.kills", 0) / 20);
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    final QueueHosts hosts = hosts();

    @TempDir
    Path directory;

    QueueHosts hosts() {
        return QueueHosts.open();
    }

    /** Where a server that is killed listens. */
    String mortal() {
        return "vq://mortal:7";
    }

    @AfterEach
    void end() {
        hosts.close();
    }

    ChildJvm child(String what, String address) {
        return ChildJvm.start(
                QueueChild.class,
                directory,
                what,
                address,
                "mortal",
                hosts.meta().address().toString());
    }

    @Test
    void shouldEndCallsOfAServerThatIsKilledAndFindItsSuccessor() throws Exception {
        ChildJvm server = child("serve", mortal());
        server.awaitLine("serving");
        try (RpcChannel channel = RpcChannel.builder("/test/echo")
                .address(URI.create(mortal()))
                .arenaQuota(1 << 20)
                .open()) {
            Echo echo = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(TIMEOUT));
            for (int kill = 0; kill < KILLS; kill++) {
                assertThat(echo.add(kill, 1)).isEqualTo(kill + 1L);
                CompletableFuture<Integer> asynchronous = echo.later(1, 110_000);
                CompletableFuture<Status.Code> blocked = CompletableFuture.supplyAsync(
                        () -> catchThrowableOfType(RpcException.class, () -> echo.block(110_000))
                                .code());
                server.kill();

                assertThat(blocked.join()).isEqualTo(Status.Code.UNAVAILABLE);
                assertThatThrownBy(asynchronous::join).hasMessageContaining("UNAVAILABLE");
                assertThat(catchThrowableOfType(RpcException.class, () -> echo.add(1, 1))
                                .code())
                        .isEqualTo(Status.Code.UNAVAILABLE);
                server = child("serve", mortal());
                server.awaitLine("serving");
            }
            assertThat(echo.add(1, 1)).isEqualTo(2);
        } finally {
            server.close();
        }
        Await.equal("exchanges that are open", 0, QueueHosts::openExchanges);
    }

    @Test
    void shouldLetGoOfClientsThatAreKilled() throws Exception {
        try (RpcServer server = RpcServer.builder()
                .directory(OwnDirectory.path())
                .service(Echo.class, new EchoService())
                .dispatch(Dispatch.virtualThreads())
                .listen(hosts.anyPort())
                .start()) {
            String address = server.address().orElseThrow().toString();
            long idle = QueueHosts.mappings();
            for (int kill = 0; kill < KILLS; kill++) {
                try (ChildJvm client = child("call", address)) {
                    client.awaitLine("waiting");
                    Await.equal("connections", 1, server::connections);
                    client.kill();
                }
                Await.equal("connections", 0, server::connections);
                Await.until("the memory is unmapped", () -> QueueHosts.mappings() <= idle);
            }
        }
        Await.equal("exchanges that are open", 0, QueueHosts::openExchanges);
    }
}
