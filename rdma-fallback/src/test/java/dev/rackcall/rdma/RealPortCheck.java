package dev.rackcall.rdma;

import static dev.rackcall.rpc.contract.RpcFixture.assertFails;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.FreePort;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Devices;
import dev.rackcall.verbs.PortState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Calls over a real device whose network interface is taken down: {@code rackcall.rdma.port} names the device, {@code
 * rackcall.rdma.host} is the interface's address. Run by name only, in a guest of the rack, where no other test needs
 * that network.
 */
@Timeout(170)
class RealPortCheck {
    private static final String DEVICE = System.getProperty("rackcall.rdma.port", "");
    private static final String HOST = System.getProperty("rackcall.rdma.host", "");
    /** An unused address of the same network. */
    private static final URI NOBODY = URI.create("rdma://10.77.0.99:18515");

    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private String network;

    @BeforeEach
    void find() throws IOException {
        network = NetworkInterface.getByInetAddress(InetAddress.ofLiteral(HOST)).getName();
    }

    @AfterEach
    void bringUp() throws Exception {
        set("up", PortState.ACTIVE);
    }

    private void set(String how, PortState expected) throws IOException, InterruptedException {
        Process ip = new ProcessBuilder("ip", "link", "set", network, how)
                .inheritIO()
                .start();
        assertThat(ip.waitFor()).as("ip link set %s %s", network, how).isZero();
        try (Context context = Devices.find(DEVICE).open()) {
            Await.equal("state of the port", expected, () -> context.port(1).state());
        }
    }

    private static RpcChannel open(URI address) {
        return EchoServer.channelTo(Echo.class, address).open();
    }

    private static long add(RpcChannel channel) {
        return channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(TIMEOUT))
                .add(1, 1);
    }

    /** Whether messages within one host go on is up to the device: the kernel's software device carries them. */
    @Test
    void shouldSayAtOnceThatThePortIsDownAndServeOnceItIsUp() throws Exception {
        URI address = URI.create("rdma://" + HOST + ":" + FreePort.find());
        try (RpcServer server = EchoServer.builder(new EchoService())
                        .listen(address)
                        .insecure()
                        .start();
                RpcChannel before = open(address)) {
            assertThat(add(before)).isEqualTo(2);
            assertThat(server.connections()).isEqualTo(1);

            set("down", PortState.DOWN);
            assertFails(Status.Code.UNAVAILABLE, () -> open(address))
                    .hasMessageContainingAll(address.toString(), "port 1 of " + DEVICE + " is DOWN", "plug it in");

            // The TCP addresses are mostly in the same network.
            assertFails(Status.Code.UNAVAILABLE, () -> open(NOBODY))
                    .hasMessageContaining("port 1 of " + DEVICE + " is DOWN");

            set("up", PortState.ACTIVE);
            assertThat(add(before)).isEqualTo(2);
            try (RpcChannel after = open(address)) {
                assertThat(add(after)).isEqualTo(2);
            }
        }
    }
}
