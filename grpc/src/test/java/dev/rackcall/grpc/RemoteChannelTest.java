package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.ListenableFuture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

    /** As a client reads the address from its configuration. */
    @Test
    void shouldCallATarget() throws Exception {
        start();
        ManagedChannel second = Grpc.newChannelBuilder(
                        remote(server.getListenSockets()).target(), InsecureChannelCredentials.create())
                .build();
        try {
            assertThat(echo(second, HELLO)).isEqualTo(HELLO);
        } finally {
            second.shutdownNow();
        }
    }

    @Test
    void shouldSendLargeMessagesOfBlockingCalls() throws Exception {
        start();
        byte[] large = new byte[3_000_000];
        Arrays.fill(large, (byte) 7);
        for (int i = 0; i < 10; i++) {
            assertThat(echo(channel, large)).isEqualTo(large);
        }
    }

    @Test
    void shouldServeBothKindsOfClientsAtOnce() throws Exception {
        start();
        ManagedChannel near = RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .build();
        try {
            List<ListenableFuture<byte[]>> calls = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                byte[] value = new byte[i];
                calls.add(ClientCalls.futureUnaryCall(
                        (i % 2 == 0 ? near : channel).newCall(BytesService.ECHO, CallOptions.DEFAULT), value));
            }
            for (int i = 0; i < calls.size(); i++) {
                assertThat(calls.get(i).get(100, TimeUnit.SECONDS)).hasSize(i);
            }
        } finally {
            near.shutdownNow();
        }
    }

    // ---- deaths

    @Test
    void shouldFailCallsOfAKilledServer() throws Exception {
        try (ChildJvm child = ChildJvm.start(BytesProcess.class, directory, "serve", CHANNEL, ANY_PORT)) {
            URI address = URI.create(child.awaitLine("at ").substring("at ".length()));
            child.awaitLine("serving");
            channel = RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, address))
                    .build();
            echo(channel, HELLO);
            ListenableFuture<byte[]> held =
                    ClientCalls.futureUnaryCall(channel.newCall(BytesService.HOLD, CallOptions.DEFAULT), HELLO);
            echo(channel, HELLO);
            child.kill();
            assertThatThrownBy(() -> held.get(100, TimeUnit.SECONDS))
                    .satisfies(failure ->
                            assertThat(Status.fromThrowable(failure).getCode()).isEqualTo(Status.Code.UNAVAILABLE));
            // Nor does a later call wait for ever.
            assertThatThrownBy(() -> echo(channel, HELLO))
                    .satisfies(failure ->
                            assertThat(Status.fromThrowable(failure).getCode()).isEqualTo(Status.Code.UNAVAILABLE));
        }
    }

    @Test
    void shouldCancelTheCallsOfAKilledClientOnly() throws Exception {
        start();
        URI address = remote(server.getListenSockets()).remote().orElseThrow();
        try (ChildJvm child = ChildJvm.start(BytesProcess.class, directory, "hold", CHANNEL, address)) {
            assertThat(service.held.tryAcquire(100, TimeUnit.SECONDS)).isTrue();
            ListenableFuture<byte[]> mine =
                    ClientCalls.futureUnaryCall(channel.newCall(BytesService.HOLD, CallOptions.DEFAULT), HELLO);
            assertThat(service.held.tryAcquire(100, TimeUnit.SECONDS)).isTrue();
            child.kill();
            Await.latch(service.cancelled);
            service.letGo.release(2);
            assertThat(mine.get(100, TimeUnit.SECONDS)).isEqualTo(HELLO);
        }
    }

    @Test
    void shouldDrainAServerThatShutsDown() throws Exception {
        start();
        ListenableFuture<byte[]> held =
                ClientCalls.futureUnaryCall(channel.newCall(BytesService.HOLD, CallOptions.DEFAULT), HELLO);
        assertThat(service.held.tryAcquire(100, TimeUnit.SECONDS)).isTrue();
        server.shutdown();
        service.letGo.release();
        assertThat(held.get(100, TimeUnit.SECONDS)).isEqualTo(HELLO);
        assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
    }

    // ---- refusals

    @Test
    void shouldNotServeStrangersUnlessThatIsWanted() throws Exception {
        URI open = URI.create("soft://0.0.0.0:0");
        assertThatThrownBy(() -> serverBuilder().listen(open).build().start())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("insecure()");
        server = serverBuilder().listen(open).insecure().build().start();
    }

    @Test
    void shouldNotTakeAnotherHostsAddressForAFolder() {
        RackcallSocketAddress remote = RackcallSocketAddress.of(CHANNEL, ANY_PORT);
        assertThatThrownBy(() -> RackcallServerBuilder.forAddress(remote))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("listen(");
    }

    @Test
    void shouldRefuseAnAddressThatNoModuleKnows() {
        assertThatThrownBy(() -> serverBuilder()
                        .listen(URI.create("carrier-pigeon://loft:1"))
                        .build()
                        .start())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("carrier-pigeon");
    }

    @Test
    void shouldRefuseClientsOfAnotherChannel() throws Exception {
        start();
        ManagedChannel other = RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(
                        "/test/other",
                        remote(server.getListenSockets()).remote().orElseThrow()))
                .build();
        try {
            assertThatThrownBy(() -> echo(other, HELLO)).hasMessageContaining("another channel");
        } finally {
            other.shutdownNow();
        }
    }
}
