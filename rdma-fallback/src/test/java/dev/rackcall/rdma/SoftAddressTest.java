package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code soft://host:port}: software devices, whatever devices there are. A step of the rack tests it beside real ones.
 */
class SoftAddressTest {
    @TempDir
    Path directory;

    @Test
    void shouldServeAtSuchAnAddress() {
        try (RpcServer server = RpcServer.builder()
                        .service(Echo.class, new EchoService())
                        .directory(directory)
                        .listen(URI.create("soft://127.0.0.1:0"))
                        .start();
                RpcChannel channel = open(server.address().orElseThrow())) {
            assertThat(server.address().orElseThrow().getScheme()).isEqualTo("soft");
            assertThat(channel.stub(Echo.class).add(1, 2)).isEqualTo(3);
        }
    }

    /**
     * If the server's host has no RDMA device, {@code rdma://} is the same place, and a client with a device uses
     * {@code soft://}.
     */
    @Test
    void shouldReachASoftwareDeviceThatListensByItsOtherName() {
        try (RpcServer server = RpcServer.builder()
                .service(Echo.class, new EchoService())
                .directory(directory)
                .listen(URI.create("rdma://127.0.0.1:0"))
                .start()) {
            int port = server.address().orElseThrow().getPort();
            try (RpcChannel channel = open(URI.create("soft://127.0.0.1:" + port))) {
                assertThat(channel.stub(Echo.class).add(1, 2)).isEqualTo(3);
            }
        }
    }

    @Test
    void shouldSayHowSuchAnAddressIsWritten() {
        RpcException e = catchThrowableOfType(RpcException.class, () -> open(URI.create("soft:nowhere")));
        assertThat(e.code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        assertThat(e).hasMessageContaining("soft://host:port");
    }

    private static RpcChannel open(URI address) {
        return RpcChannel.builder("/test/echo")
                .address(address)
                .arenaQuota(4 << 20)
                .open();
    }
}
