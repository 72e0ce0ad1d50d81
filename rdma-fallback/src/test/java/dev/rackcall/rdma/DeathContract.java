package dev.rackcall.rdma;

import static dev.rackcall.rpc.contract.RpcFixture.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code kill -9} of a peer in the middle of calls, whatever the transport. */
@Timeout(240)
abstract class DeathContract {
    @TempDir
    Path directory;

    /** How many peers are killed in a test. */
    abstract int kills();

    /** Where a server that is killed listens. */
    abstract URI mortal();

    /** Where a server of this process listens, at any port. */
    abstract URI anyPort();

    /** A process that runs {@link EchoChild}. */
    abstract ChildJvm child(String what, URI address);

    /** Called when a server of this process has no connection any more. */
    abstract void checkThatNoConnectionIsLeft();

    /** Called when neither server nor channel is open in this process. */
    abstract void checkThatNothingIsLeft();

    @Test
    void shouldEndCallsOfAServerThatIsKilledAndFindItsSuccessor() throws Exception {
        URI address = mortal();
        ChildJvm server = child("serve", address);
        server.awaitLine("serving");
        try (RpcChannel channel = EchoServer.channel(address)) {
            Echo echo = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(WaitingCalls.TIMEOUT));
            for (int kill = 0; kill < kills(); kill++) {
                assertThat(echo.add(kill, 1)).isEqualTo(kill + 1L);
                WaitingCalls waiting = WaitingCalls.of(echo);
                server.kill();

                waiting.assertUnavailable();
                assertFails(Status.Code.UNAVAILABLE, () -> echo.add(1, 1));
                server = child("serve", address);
                server.awaitLine("serving");
            }
            assertThat(echo.add(1, 1)).isEqualTo(2);
        } finally {
            server.close();
        }
        checkThatNothingIsLeft();
    }

    @Test
    void shouldLetGoOfClientsThatAreKilled() throws Exception {
        long before = Faults.mappings();
        try (RpcServer server = EchoServer.at(anyPort())) {
            URI address = server.address().orElseThrow();
            long idle = Faults.mappings();
            for (int kill = 0; kill < kills(); kill++) {
                try (ChildJvm client = child("call", address)) {
                    client.awaitLine("waiting");
                    Await.equal("connections", 1, server::connections);
                    client.kill();
                }
                Await.equal("connections", 0, server::connections);
                Await.until("the memory is unmapped", () -> Faults.mappings() <= idle);
                checkThatNoConnectionIsLeft();
            }
        }
        checkThatNothingIsLeft();
        Await.until("all memory is unmapped", () -> Faults.mappings() <= before);
    }
}
