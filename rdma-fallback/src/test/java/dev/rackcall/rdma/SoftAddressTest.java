package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.TestCertificate;
import dev.rackcall.verbs.soft.SoftOptions;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code soft://host:port}: software devices, whatever devices there are. A step of the rack tests it beside real ones.
 */
class SoftAddressTest extends RpcFixture {

    @Test
    void shouldServeAtSuchAnAddress() {
        URI address = serveAt("soft://127.0.0.1:0");
        assertThat(address.getScheme()).isEqualTo("soft");
        assertServes(address);
    }

    private URI serveAt(String address) {
        return serve(serving(Echo.class, new EchoService()).listen(URI.create(address)))
                .address()
                .orElseThrow();
    }

    private void assertServes(URI address) {
        RpcChannel.Builder builder = channel(Echo.class).address(address).connectTimeout(Await.BOUND);
        assertThat(open(builder).stub(Echo.class).add(1, 2)).isEqualTo(3);
    }

    /**
     * If the server's host has no RDMA device, {@code rdma://} is the same place, and a client with a device uses
     * {@code soft://}.
     */
    @Test
    void shouldReachASoftwareDeviceThatListensByItsOtherName() {
        assertServes(
                URI.create("soft://127.0.0.1:" + serveAt("rdma://127.0.0.1:0").getPort()));
    }

    /** Only this host's own addresses are certain not to be reached by other hosts. */
    @Test
    void shouldListenBeyondLoopbackOnlyWithTlsOrByTheWord(@TempDir Path folder) {
        for (String open : List.of("rdma://0.0.0.0:0", "soft://0.0.0.0:0", "soft://host-a:18515")) {
            RpcServer.Builder builder = serving(Echo.class, new EchoService()).listen(URI.create(open));
            assertFails(Status.Code.FAILED_PRECONDITION, builder::start)
                    .hasMessageContainingAll(open, "has no TLS", "RdmaSettings.tls(", "insecure()");
        }
        serve(serving(Echo.class, new EchoService())
                        .listen(URI.create("soft://0.0.0.0:0"))
                        .insecure())
                .close();
        TestCertificate server = TestCertificate.make(folder, "server");
        RdmaSettings.tls(server.certificate(), server.key(), server.certificate());
        try {
            serve(serving(Echo.class, new EchoService()).listen(URI.create("soft://0.0.0.0:0")))
                    .close();
        } finally {
            RdmaSettings.softwareDevices(SoftOptions.local());
        }
    }

    @Test
    void shouldSayHowSuchAnAddressIsWritten() {
        assertFails(Status.Code.INVALID_ARGUMENT, () -> assertServes(URI.create("soft:nowhere")))
                .hasMessageContaining("soft://host:port");
    }
}
