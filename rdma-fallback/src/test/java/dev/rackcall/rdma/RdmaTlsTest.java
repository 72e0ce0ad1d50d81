package dev.rackcall.rdma;

import static dev.rackcall.rpc.contract.RpcFixture.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.testkit.TestCertificate;
import dev.rackcall.verbs.soft.SoftOptions;
import dev.rackcall.verbs.soft.TlsOptions;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Software devices with certificates: only peers that trust each other can call. */
class RdmaTlsTest {
    private static final String SERVER = "127.0.0.2";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    @TempDir
    private static Path folder;

    private static TestCertificate server;
    private static TestCertificate client;
    private static TestCertificate stranger;

    @BeforeAll
    static void makeCertificates() {
        server = TestCertificate.make(folder, "server");
        client = TestCertificate.make(folder, "client");
        stranger = TestCertificate.make(folder, "stranger");
    }

    @AfterEach
    void restore() {
        RdmaSettings.softwareDevices(SoftOptions.local());
    }

    private static TlsOptions trusting(TestCertificate own, TestCertificate peer) {
        return new TlsOptions(own.certificate(), own.key(), peer.certificate());
    }

    /** A call by a client with this device to a server that trusts {@link #client} only. */
    private static long call(SoftOptions options) {
        RdmaSettings.softwareDevices(SoftOptions.local().withTls(trusting(server, client)));
        RdmaDevice device = RdmaDevice.acquire(DeviceKind.BEST, InetAddress.ofLiteral(SERVER));
        RdmaSettings.softwareDevices(options);
        try (RpcServer endpoint = EchoServer.at(SERVER, 1 << 20)) {
            try (RpcChannel channel = EchoServer.channelTo(Echo.class, endpoint)
                    .connectTimeout(TIMEOUT)
                    .open()) {
                return channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(TIMEOUT))
                        .add(1, 2);
            } finally {
                Await.equal("connections", 0, endpoint::connections);
            }
        } finally {
            device.release();
        }
    }

    /** Opening the channel fails and says what to check. */
    private static void shouldSayWhy(SoftOptions options) {
        assertFails(Status.Code.UNAVAILABLE, () -> call(options))
                .hasMessageContainingAll("rdma://" + SERVER, "certificate");
    }

    @Test
    void shouldCallAServerThatTrustsIt() {
        assertThat(call(SoftOptions.local().withTls(trusting(client, server)))).isEqualTo(3);
    }

    @Test
    void shouldRefuseAStrangersCertificate() {
        shouldSayWhy(SoftOptions.local().withTls(trusting(stranger, server)));
    }

    @Test
    void shouldRefuseAServerThatItDoesNotTrust() {
        shouldSayWhy(SoftOptions.local().withTls(trusting(client, stranger)));
    }

    @Test
    void shouldRefuseAPeerWithoutACertificate() {
        assertFails(Status.Code.FAILED_PRECONDITION, () -> call(SoftOptions.local()))
                .hasMessageContainingAll("rdma://" + SERVER, "speaks TLS", "RdmaSettings.tls");
    }

    /** Its hello is never read, and nothing of what two honest ends say can be overheard. */
    @Test
    void shouldConnectNoStrangerAndSayNothingInPlain() throws Exception {
        RdmaSettings.softwareDevices(SoftOptions.local().withTls(trusting(server, client)));
        try (RpcServer endpoint = EchoServer.at(SERVER, 1 << 20);
                RawClient plain = RawClient.dial(endpoint.address().orElseThrow())) {
            byte[] hello = RawClient.hello(RawClient.PROTOCOL, RawClient.LAYOUT, "/test/echo", 1 << 20);
            assertThatThrownBy(() -> plain.knock(hello)).hasMessageContaining("speaks TLS");
            assertThat(endpoint.connections()).isZero();
        }
    }

    /** Its TLS record comes byte by byte, each within the time of a step. */
    @Test
    void shouldBoundTheWholeHandshakeWithASlowPeer() throws Exception {
        TlsOptions own = trusting(server, server);
        RdmaSettings.softwareDevices(SoftOptions.local().withTls(own));
        InetAddress host = InetAddress.ofLiteral("127.0.0.3");
        try (ServerSocket port = new ServerSocket(0, 1, host);
                SlowRelay relay = new SlowRelay(host, port.getLocalPort());
                Socket accepted = port.accept();
                Socket dialed = relay.dial();
                SSLSocket slow = PairTls.over(dialed, own, false)) {
            PairHandshake handshake = PairHandshake.over(accepted, DeviceKind.SOFTWARE, Duration.ofSeconds(5));
            CompletableFuture<Void> started = Concurrently.start(() -> {
                slow.startHandshake();
                return null;
            });
            handshake.secure(true);
            Concurrently.get(started);
            // The watch over the TLS handshake is gone together with its wait.
            Await.equal("watches", 0, PairWatchdog::pending);

            relay.slowDown();
            slow.getOutputStream().write(new byte[10_000]);
            assertThatThrownBy(handshake::readHello)
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessageContaining("has not completed the handshake within 10000 ms");
        }
    }

    /** A call by {@link #client} to a server with an access list of these names. */
    private static long callListed(String... names) {
        RdmaSettings.softwareDevices(SoftOptions.local().withTls(trusting(server, client)));
        RdmaDevice device = RdmaDevice.acquire(DeviceKind.BEST, InetAddress.ofLiteral(SERVER));
        RdmaSettings.softwareDevices(SoftOptions.local().withTls(trusting(client, server)));
        try (RpcServer endpoint = EchoServer.builder(new EchoService())
                        .allowCertificates(Echo.class, names)
                        .listen(URI.create("rdma://" + SERVER + ":0"))
                        .start();
                RpcChannel channel = EchoServer.channelTo(Echo.class, endpoint)
                        .connectTimeout(TIMEOUT)
                        .open()) {
            return channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(TIMEOUT))
                    .add(1, 2);
        } finally {
            device.release();
        }
    }

    @Test
    void shouldServeOnlyCertificatesOnTheAccessList() {
        assertThat(callListed("somebody", "client")).isEqualTo(3);
        assertFails(Status.Code.PERMISSION_DENIED, () -> callListed("somebody"))
                .hasMessageContainingAll("/test/echo", "client", "allowCertificates");
    }

    @Test
    void shouldServeNobodyWithoutACertificateIfThereIsAnAccessList() {
        try (RpcServer endpoint = EchoServer.builder(new EchoService())
                .allowCertificates(Echo.class, "client")
                .listen(URI.create("rdma://127.0.0.1:0"))
                .start()) {
            assertFails(Status.Code.PERMISSION_DENIED, () -> EchoServer.channel(endpoint))
                    .hasMessageContainingAll("/test/echo", "without a certificate");
        }
    }
}
