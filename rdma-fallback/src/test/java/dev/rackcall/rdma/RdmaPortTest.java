package dev.rackcall.rdma;

import static dev.rackcall.rpc.contract.RpcFixture.assertFails;
import static dev.rackcall.rpc.contract.RpcFixture.codeOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Calls over a device whose port is down. A connect fails at once, on either side; former connections are made anew
 * once the port is up.
 */
class RdmaPortTest {
    private static final String CLIENT = "127.0.0.1";
    private static final String SERVER = "127.0.0.2";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String DOWN = "port 1 of soft:rackcall is DOWN: ENETDOWN; plug it in";

    private final Faults client = Faults.at(CLIENT, 0);
    private final Faults server = Faults.at(SERVER, 0);
    private final CountDownLatch called = new CountDownLatch(1);
    private final CountDownLatch mayReturn = new CountDownLatch(1);

    /** Returns from the first call when the test allows it. */
    private final class Held extends EchoService {
        @Override
        public long add(long first, long second) {
            called.countDown();
            Await.latch(mayReturn);
            return first + second;
        }
    }

    @AfterEach
    void close() {
        mayReturn.countDown();
        client.close();
        server.close();
        Await.equal("devices that are open", 0, Faults::openDevices);
    }

    private RpcServer start() {
        return EchoServer.at(URI.create("rdma://" + SERVER + ":0"), new Held());
    }

    private static RpcChannel open(RpcServer server) {
        URI address = server.address().orElseThrow();
        return EchoServer.channelTo(Echo.class, address).connectTimeout(TIMEOUT).open();
    }

    private static Echo echo(RpcChannel channel) {
        return channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(TIMEOUT));
    }

    @Test
    void shouldSayAtOnceThatTheOwnPortIsDown() {
        mayReturn.countDown();
        try (RpcServer endpoint = start()) {
            client.portDown();
            assertFails(Status.Code.UNAVAILABLE, () -> open(endpoint))
                    .hasMessageContainingAll(
                            endpoint.address().orElseThrow().toString(), "no connection over RDMA", "from here", DOWN);

            client.portUp();
            try (RpcChannel channel = open(endpoint)) {
                assertThat(echo(channel).add(1, 1)).isEqualTo(2);
            }
        }
    }

    @Test
    void shouldSayAtOnceThatTheServersPortIsDown() {
        mayReturn.countDown();
        try (RpcServer endpoint = start()) {
            server.portDown();
            assertFails(Status.Code.UNAVAILABLE, () -> open(endpoint))
                    .hasMessageContainingAll("no connection over RDMA at the server", DOWN);
            // The client is told before its place is free again.
            Await.equal("connections", 0, endpoint::connections);

            server.portUp();
            try (RpcChannel channel = open(endpoint)) {
                assertThat(echo(channel).add(1, 1)).isEqualTo(2);
            }
        }
    }

    /**
     * The software device does not wait as hardware does: a request in flight or posted while the port is down ends its
     * queue pair.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndCallsAndConnectAnewOnceThePortIsUp(boolean own) throws Exception {
        Faults hit = own ? client : server;
        try (RpcServer endpoint = start();
                RpcChannel channel = open(endpoint)) {
            Echo echo = echo(channel);
            CompletableFuture<Status.Code> pending = Concurrently.start(() -> codeOf(() -> echo.add(1, 1)));
            Await.latch(called);
            hit.portDown();
            mayReturn.countDown();
            assertThat(pending.join()).isEqualTo(Status.Code.UNAVAILABLE);

            assertFails(Status.Code.UNAVAILABLE, () -> echo.add(2, 2)).hasMessageContaining(DOWN);

            hit.portUp();
            assertThat(echo.add(3, 3)).isEqualTo(6);
            Await.equal("connections", 1, endpoint::connections);
        }
    }
}
