package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import java.io.EOFException;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What clients cost a server before they have proven that they have a device. */
class RdmaGuestTest extends RpcFixture {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long QUOTA = 64 << 20;
    private static final int SILENT = 100;

    private static byte[] hello() {
        return RawClient.hello(RawClient.PROTOCOL, RawClient.LAYOUT, "/test/echo", QUOTA);
    }

    private RpcServer serve() {
        return keep(EchoServer.at("127.0.0.1", QUOTA));
    }

    private void assertServes(URI address) {
        try (var channel = EchoServer.channelTo(Echo.class, address)
                .connectTimeout(TIMEOUT)
                .open()) {
            assertThat(channel.stub(Echo.class, within(TIMEOUT)).add(1, 1)).isEqualTo(2);
        }
    }

    /** The memory of connections to this process's servers. */
    private static long arenas() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("memfd:rackcall/test/echo"))
                    .count();
        }
    }

    @Test
    void shouldReserveNothingBeforeTheClientsDeviceHasWritten() throws Exception {
        RpcServer server = serve();
        URI address = server.address().orElseThrow();
        long before = arenas();
        List<RawClient> guests = new ArrayList<>();
        try {
            for (int i = 0; i < PairGuests.MOST_PER_STAGE; i++) {
                RawClient guest = RawClient.dial(address);
                guests.add(guest);
                assertThat(guest.knock(hello()).hello().memory().bytes())
                        .as("bytes that an invitation names")
                        .isEqualTo(Long.BYTES);
            }
            // Fewer if memory of an earlier test was still being unmapped at the start.
            assertThat(arenas()).isLessThanOrEqualTo(before);
            assertThat(server.connections()).isZero();

            RawClient liar = guests.getLast();
            liar.say();
            assertThatThrownBy(liar::next).isInstanceOf(EOFException.class);
            assertThat(arenas()).isLessThanOrEqualTo(before);
            // All places are taken.
            assertServes(address);
        } finally {
            guests.forEach(RawClient::close);
        }
        Await.equal("connections", 0, server::connections);
    }

    @Test
    void shouldServeANewClientWhileOthersOccupyAllPlacesInSilence() throws Exception {
        URI address = serve().address().orElseThrow();
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < SILENT; i++) {
                silent.add(new Socket(address.getHost(), address.getPort()));
            }
            for (int i = 0; i < 10; i++) {
                assertServes(address);
            }
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }
}
