package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Calls of clients that share no memory with the server. */
class RemoteChannelTest {
    private static final String CHANNEL = "/test/remote";
    private static final URI ANY_PORT = URI.create("rdma://127.0.0.1:0");
    private static final byte[] HELLO = "hello".getBytes(StandardCharsets.UTF_8);

    @TempDir
    private Path directory;

    private final BytesService service = new BytesService();
    private Server server;
    private ManagedChannel channel;

    private RackcallServerBuilder serverBuilder() {
        return RackcallServerBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .addService(service);
    }

    /** Where a server listens for clients of other hosts. */
    static RackcallSocketAddress remote(Iterable<? extends SocketAddress> listening) {
        for (SocketAddress each : listening) {
            if (each instanceof RackcallSocketAddress address
                    && address.remote().isPresent()) {
                return address;
            }
        }
        throw new AssertionError("no address for other hosts in " + listening);
    }

    private void start() throws IOException {
        server = serverBuilder().listen(ANY_PORT).build().start();
        channel = RackcallChannelBuilder.forAddress(remote(server.getListenSockets()))
                .build();
    }

    @AfterEach
    void stop() throws InterruptedException {
        if (channel != null) {
            channel.shutdownNow();
            assertThat(channel.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        }
        if (server != null) {
            service.letGo.release(1000);
            server.shutdownNow();
            assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static byte[] echo(ManagedChannel channel, byte[] value) {
        return ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, CallOptions.DEFAULT, value);
    }

    @Test
    void shouldCallOverTheSoftwareDevice() throws Exception {
        start();
        assertThat(echo(channel, HELLO)).isEqualTo(HELLO);
    }
}
