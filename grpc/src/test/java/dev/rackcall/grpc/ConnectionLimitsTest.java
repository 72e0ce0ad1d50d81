package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.ListenableFuture;
import dev.rackcall.testkit.Await;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers that keep connections for a while only. */
class ConnectionLimitsTest {
    private static final String CHANNEL = "/test/limits";
    private static final byte[] HELLO = "hello".getBytes(StandardCharsets.UTF_8);

    @TempDir
    private Path directory;

    private final BytesService service = new BytesService();
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger living = new AtomicInteger();
    private Server server;
    private ManagedChannel channel;

    private RackcallServerBuilder builder() {
        return RackcallServerBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .addService(service)
                .addTransportFilter(new ServerTransportFilter() {
                    @Override
                    public Attributes transportReady(Attributes attributes) {
                        begun.incrementAndGet();
                        living.incrementAndGet();
                        return attributes;
                    }

                    @Override
                    public void transportTerminated(Attributes attributes) {
                        living.decrementAndGet();
                    }
                });
    }

    private void start(RackcallServerBuilder builder) throws IOException {
        server = builder.build().start();
        channel = RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .build();
    }

    @AfterEach
    void stop() throws InterruptedException {
        if (channel != null) {
            channel.shutdownNow();
            assertThat(channel.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
            service.letGo.release(1000);
            server.shutdownNow();
            assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        }
    }

    private byte[] echo() {
        return ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, CallOptions.DEFAULT, HELLO);
    }

    /** A call that waits at the server. */
    private ListenableFuture<byte[]> call() {
        return ClientCalls.futureUnaryCall(channel.newCall(BytesService.HOLD, CallOptions.DEFAULT), HELLO);
    }

    private ListenableFuture<byte[]> hold() throws InterruptedException {
        ListenableFuture<byte[]> held = call();
        assertThat(service.held.tryAcquire(100, TimeUnit.SECONDS)).isTrue();
        return held;
    }

    @Test
    void shouldTakeWhatOrdinaryServersSet() throws Exception {
        start(builder()
                .keepAliveTime(1, TimeUnit.HOURS)
                .keepAliveTimeout(20, TimeUnit.SECONDS)
                .permitKeepAliveTime(1, TimeUnit.MINUTES)
                .permitKeepAliveWithoutCalls(true)
                .maxConnectionIdle(1, TimeUnit.HOURS)
                .maxConnectionAge(1, TimeUnit.HOURS)
                .maxConnectionAgeGrace(1, TimeUnit.MINUTES));
        assertThat(echo()).isEqualTo(HELLO);
        assertThat(echo()).isEqualTo(HELLO);
        assertThat(begun).hasValue(1);
    }

    @Test
    void shouldRefuseTimesThatMakeNoSense() {
        assertThatThrownBy(() -> builder().maxConnectionIdle(0, TimeUnit.SECONDS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("maxConnectionIdle of 0 SECONDS");
        assertThatThrownBy(() -> builder().maxConnectionAgeGrace(-1, TimeUnit.SECONDS))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldCloseIdleConnectionsOnly() throws Exception {
        // Longer than a busy host keeps a thread from its processor: a connection whose first call comes later refuses
        // it.
        start(builder().maxConnectionIdle(1, TimeUnit.SECONDS));
        // A call that outlasts that time, as another channel's idle connection shows.
        ListenableFuture<byte[]> held = hold();
        ManagedChannel holding = channel;
        channel = RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .build();
        try {
            for (int round = 0; round < 3; round++) {
                assertThat(echo()).isEqualTo(HELLO);
                Await.equal("connections", 1, living::get);
            }
            assertThat(held.isDone()).isFalse();
            service.letGo.release();
            assertThat(held.get(100, TimeUnit.SECONDS)).isEqualTo(HELLO);
            Await.equal("connections", 0, living::get);
        } finally {
            holding.shutdownNow();
        }
        assertThat(begun.get()).isGreaterThanOrEqualTo(4);
    }

    @Test
    void shouldRenewAgedConnectionsWithoutAFailedCall() throws Exception {
        // Longer than a busy host keeps a thread from its processor: gRPC repeats a refused call only once, so two
        // connections in a row must not refuse it.
        start(builder().maxConnectionAge(2, TimeUnit.SECONDS));
        ListenableFuture<byte[]> held = hold();
        Await.until("connections to be renewed", () -> {
            assertThat(echo()).isEqualTo(HELLO);
            return begun.get() > 2;
        });
        assertThat(held.isDone()).as("there is no grace that ends").isFalse();
        service.letGo.release();
        assertThat(held.get(100, TimeUnit.SECONDS)).isEqualTo(HELLO);
    }

    @Test
    void shouldCancelCallsAfterTheGrace() throws Exception {
        start(builder().maxConnectionAge(20, TimeUnit.MILLISECONDS).maxConnectionAgeGrace(20, TimeUnit.MILLISECONDS));
        // On a busy machine a connection may end before the call begins, which then begins on another one.
        ListenableFuture<byte[]> held = call();
        assertThatThrownBy(() -> held.get(100, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .satisfies(failure -> assertThat(Status.fromThrowable(failure).getCode())
                        .isIn(Status.Code.UNAVAILABLE, Status.Code.CANCELLED));
    }
}
