package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What connections keep, at both ends together, after many bytes have waited in them. */
class BurstTest {
    private static final String CHANNEL = "/test/burst";
    private static final int CONNECTIONS = 8;
    private static final int MOST_BYTES = 128 * 1024;
    private static final int BURST_BYTES = 64 << 20;
    private static final int MESSAGE_BYTES = 256 * 1024;
    private static final int SETTLED_AFTER = 10;
    private static final int CALLS = BURST_BYTES / BytesService.PARTS / MESSAGE_BYTES;

    @TempDir
    private Path directory;

    private final List<ManagedChannel> channels = new ArrayList<>();
    private Server server;

    private RackcallSocketAddress address() {
        return RackcallSocketAddress.of(CHANNEL, directory);
    }

    @BeforeEach
    void start() throws IOException {
        server = RackcallServerBuilder.forAddress(address())
                .addService(new BytesService())
                .directExecutor()
                .build()
                .start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        channels.forEach(ManagedChannel::shutdownNow);
        server.shutdownNow();
        assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
    }

    private ManagedChannel connect() {
        ManagedChannel channel =
                RackcallChannelBuilder.forAddress(address()).directExecutor().build();
        channels.add(channel);
        assertThat(ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, CallOptions.DEFAULT, new byte[1]))
                .hasSize(1);
        return channel;
    }

    /** A call whose answers are not read yet. */
    private static final class Unread extends ClientCall.Listener<byte[]> {
        private final ClientCall<byte[], byte[]> call;
        private final BlockingQueue<Status> end = new LinkedBlockingQueue<>();
        private long received;

        Unread(ManagedChannel channel) {
            call = channel.newCall(BytesService.REPEAT, CallOptions.DEFAULT);
            call.start(this, new Metadata());
            call.request(1);
            call.sendMessage(new byte[MESSAGE_BYTES]);
            call.halfClose();
        }

        @Override
        public void onMessage(byte[] message) {
            received += message.length;
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            end.add(status);
        }

        void read() throws InterruptedException {
            call.request(BytesService.PARTS);
            Status status = end.poll(100, TimeUnit.SECONDS);
            assertThat(status).isEqualTo(Status.OK);
            assertThat(received).isEqualTo(BytesService.PARTS * MESSAGE_BYTES);
        }
    }

    private static void burst(ManagedChannel channel) throws InterruptedException {
        long idle = liveBytes();
        List<Unread> calls =
                Stream.generate(() -> new Unread(channel)).limit(CALLS).toList();
        // Else the test would say nothing.
        Await.until("many bytes that wait", () -> liveBytes() - idle > BURST_BYTES / 2);
        for (Unread each : calls) {
            each.read();
        }
    }

    /** Objects and shared memory. */
    private static long liveBytes() {
        System.gc();
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/smaps_rollup"))) {
            String shared = lines.filter(line -> line.startsWith("Pss_Shmem:"))
                    .findFirst()
                    .orElseThrow();
            return heap + 1024 * Long.parseLong(shared.replaceAll("\\D", ""));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The least that it takes: calls that have ended may still leave objects for a moment. */
    private static long settledBytes() {
        long least = Long.MAX_VALUE;
        for (int since = 0; since < SETTLED_AFTER; since++) {
            long now = liveBytes();
            if (now < least) {
                least = now;
                since = 0;
            }
        }
        return least;
    }

    @Test
    void shouldKeepLittlePerConnectionAfterABurst() throws Exception {
        // Classes are loaded, and threads have started.
        ManagedChannel first = connect();
        burst(first);
        burst(first);
        long before = settledBytes();
        for (int i = 0; i < CONNECTIONS; i++) {
            burst(connect());
        }
        Await.until("little memory after the bursts", () -> liveBytes() - before <= (long) CONNECTIONS * MOST_BYTES);
    }
}
