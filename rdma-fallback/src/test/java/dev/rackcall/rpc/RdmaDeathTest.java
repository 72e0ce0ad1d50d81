package dev.rackcall.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rdma.Faults;
import dev.rackcall.rdma.FreePort;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code kill -9} of a peer over RDMA in the middle of calls. */
@Timeout(240)
class RdmaDeathTest {
    private static final int KILLS = Math.max(2, Integer.getInteger("rackcall.kills", 0) / 20);
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    @Test
    void shouldEndCallsOfAServerThatIsKilledAndFindItsSuccessor() throws Exception {
        URI address = URI.create("rdma://127.0.0.1:" + FreePort.find());
        ChildJvm server = ChildJvm.start(RdmaChild.class, directory, "serve", address.toString());
        server.awaitLine("serving");
        try (RpcChannel channel = RpcChannel.builder("/test/echo")
                .address(address)
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
                server = ChildJvm.start(RdmaChild.class, directory, "serve", address.toString());
                server.awaitLine("serving");
            }
            assertThat(echo.add(1, 1)).isEqualTo(2);
        } finally {
            server.close();
        }
        Await.equal("devices that are open", 0, Faults::openDevices);
    }

    @Test
    void shouldLetGoOfClientsThatAreKilled() throws Exception {
        long before = Faults.mappings();
        try (RpcServer server = RpcServer.builder()
                .directory(OwnDirectory.path())
                .service(Echo.class, new EchoService())
                .dispatch(Dispatch.virtualThreads())
                .listen(URI.create("rdma://127.0.0.1:0"))
                .start()) {
            String address = server.address().orElseThrow().toString();
            long idle = Faults.mappings();
            for (int kill = 0; kill < KILLS; kill++) {
                try (ChildJvm client = ChildJvm.start(RdmaChild.class, directory, "call", address)) {
                    client.awaitLine("waiting");
                    Await.equal("connections", 1, server::connections);
                    client.kill();
                }
                Await.equal("connections", 0, server::connections);
                Await.until("the memory is unmapped", () -> Faults.mappings() <= idle);
                Await.equal("devices that are open", 0, Faults::openDevices);
            }
        }
        Await.until("all memory is unmapped", () -> Faults.mappings() <= before);
    }
}
