package dev.rackcall.grpc.wire;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.grpc.RackcallChannelBuilder;
import dev.rackcall.grpc.RackcallServerBuilder;
import dev.rackcall.grpc.RackcallSocketAddress;
import dev.rackcall.grpc.wire.PipeLayout.Side;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.testkit.Await;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client over the software device that writes what no correct client writes harms its own connection only. */
class RemoteHostileFramesTest {
    private static final String CHANNEL = "/test/hostile";
    private static final Duration BOUND = Duration.ofSeconds(100);

    @TempDir
    private Path directory;

    private Server server;
    private ManagedChannel honest;
    private URI address;

    @BeforeEach
    void start() throws IOException {
        server = RackcallServerBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .listen(URI.create("rdma://127.0.0.1:0"))
                .addService(new HealthStatusManager().getHealthService())
                .build()
                .start();
        RackcallSocketAddress remote =
                (RackcallSocketAddress) server.getListenSockets().getLast();
        address = remote.remote().orElseThrow();
        honest = RackcallChannelBuilder.forAddress(remote).build();
        requireHonestAnswer();
    }

    @AfterEach
    void stop() throws InterruptedException {
        honest.shutdownNow();
        server.shutdownNow();
        assertThat(server.awaitTermination(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    private void requireHonestAnswer() {
        assertThat(HealthGrpc.newBlockingStub(honest)
                        .withDeadlineAfter(BOUND.toSeconds(), TimeUnit.SECONDS)
                        .check(HealthCheckRequest.getDefaultInstance())
                        .getStatus())
                .isEqualTo(ServingStatus.SERVING);
    }

    /** The raw end of a client. */
    private final class Attacker implements AutoCloseable, Carrier.Arrivals {
        final PipeMemory memory;
        final Carrier carrier;
        final PipeWriter writer;
        final PipePeer other;
        final CountDownLatch hungUp = new CountDownLatch(1);

        Attacker() {
            memory = PipeMemory.create(CHANNEL);
            carrier = CarrierProvider.require(address)
                    .connect(
                            address,
                            new CarrierProvider.Memory(memory.file(), memory.memory()),
                            ByteBuffer.wrap(PipeHello.ofClient(CHANNEL)),
                            CarrierPeer.PUBLICATIONS,
                            BOUND)
                    .carrier()
                    .orElseThrow();
            writer = new PipeWriter(memory.memory(), Side.CLIENT);
            other = new CarrierPeer(carrier, memory, Side.CLIENT);
            carrier.start(this);
        }

        void send(int kind, int flags, int stream, byte[] payload) {
            writer.write(kind, flags, stream, 0, payload, 0, payload.length);
            long from = writer.published();
            other.published(from, writer.publish());
        }

        @Override
        public void published() {
            // It reads no answers.
        }

        @Override
        public void told(long number) {
            // Nor these.
        }

        @Override
        public void ended() {
            hungUp.countDown();
        }

        @Override
        public void close() {
            carrier.close();
            memory.close();
        }
    }

    @Test
    void shouldHangUpOnEachBreach() throws Exception {
        byte[] opened = open("none/none");
        for (int breach = 0; breach < 7; breach++) {
            try (Attacker attacker = new Attacker()) {
                switch (breach) {
                    case 0 -> attacker.send(77, 0, 1, new byte[0]);
                    case 1 -> attacker.send(Frame.DATA, 0, 1, new byte[3]);
                    case 2 -> attacker.carrier.publish(PipeLayout.tailOffset(Side.CLIENT), 3);
                    case 3 -> attacker.carrier.publish(PipeLayout.tailOffset(Side.CLIENT), 1L << 40);
                    case 4 -> {
                        attacker.memory.memory().set(JAVA_INT, PipeLayout.pipe(Side.CLIENT), Integer.MAX_VALUE);
                        attacker.carrier.carry(PipeLayout.pipe(Side.CLIENT), 64);
                        attacker.carrier.publish(PipeLayout.tailOffset(Side.CLIENT), 64);
                    }
                    case 5 -> attacker.send(Frame.OPEN, 2, 1, new byte[1]);
                    default -> {
                        attacker.carrier.publish(PipeLayout.headOffset(Side.SERVER), 1L << 40);
                        AtomicInteger lastStream = new AtomicInteger();
                        // The server finds the wrong head once its pipe seems full.
                        Await.until("the server to hang up", () -> {
                            while (attacker.writer.hasRoom(opened.length)) {
                                attacker.send(Frame.OPEN, 0, lastStream.incrementAndGet(), opened);
                            }
                            return attacker.hungUp.getCount() == 0;
                        });
                    }
                }
                Await.latch(attacker.hungUp);
            }
            requireHonestAnswer();
        }
    }

    private static byte[] open(String method) {
        byte[] name = method.getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(name.length + 2 * Integer.BYTES + Short.BYTES);
        return out.putInt(name.length).put(name).putInt(0).putShort((short) 0).array();
    }

    /** More publications than the server has receive requests for, of which it reads none but breaches. */
    @Test
    void shouldSurviveAFloodOfPublications() {
        try (Attacker attacker = new Attacker()) {
            for (int i = 0; i < 3 * CarrierPeer.PUBLICATIONS; i++) {
                if (!attacker.carrier.publish(PipeLayout.headOffset(Side.SERVER), 0)) {
                    break;
                }
            }
            requireHonestAnswer();
        }
        requireHonestAnswer();
    }
}
