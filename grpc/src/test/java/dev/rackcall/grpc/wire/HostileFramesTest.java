package dev.rackcall.grpc.wire;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.grpc.RackcallChannelBuilder;
import dev.rackcall.grpc.RackcallServerBuilder;
import dev.rackcall.grpc.RackcallSocketAddress;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.testkit.Await;
import io.grpc.Attributes;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.protobuf.services.HealthStatusManager;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client that writes what no correct client writes harms its own connection only. */
class HostileFramesTest {
    private static final String CHANNEL = "/test/hostile";
    private static final Duration BOUND = Duration.ofSeconds(100);
    /** Connections of random frames; each sends some dozens, so the long tests send a quarter of a million. */
    private static final int CASES = Math.min(10_000, Integer.getInteger("rackcall.cases", 300));

    private static final int MOST_FRAMES = 40;
    private static final int MOST_METADATA = 1024;

    /** A method whose handler never asks for a message. */
    private static final MethodDescriptor<byte[], byte[]> DEAF = deaf();

    private static final int MOST_OPEN_STREAMS = 16_384;
    private static final int BUDGET_BYTES = 64 << 20;
    /** As many answers to pings as a pipe has room for. */
    private static final int PONGS = PipeLayout.PIPE_BYTES / Frame.bytes(Long.BYTES);

    @TempDir
    private Path directory;

    private final long seed = Long.getLong("rackcall.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final AtomicInteger connections = new AtomicInteger();
    private Server server;
    private ManagedChannel honest;

    @BeforeEach
    void start() throws IOException {
        RackcallSocketAddress address = RackcallSocketAddress.of(CHANNEL, directory);
        server = RackcallServerBuilder.forAddress(address)
                .maxInboundMetadataSize(MOST_METADATA)
                .addService(new HealthStatusManager().getHealthService())
                .addService(ServerServiceDefinition.builder("test.Deaf")
                        .addMethod(DEAF, (call, headers) -> new ServerCall.Listener<>() {})
                        .build())
                .addTransportFilter(new ServerTransportFilter() {
                    @Override
                    public Attributes transportReady(Attributes attributes) {
                        connections.incrementAndGet();
                        return attributes;
                    }

                    @Override
                    public void transportTerminated(Attributes attributes) {
                        connections.decrementAndGet();
                    }
                })
                .build()
                .start();
        honest = RackcallChannelBuilder.forAddress(address).build();
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

    private static MethodDescriptor<byte[], byte[]> deaf() {
        MethodDescriptor.Marshaller<byte[]> none = new MethodDescriptor.Marshaller<>() {
            @Override
            public InputStream stream(byte[] value) {
                return InputStream.nullInputStream();
            }

            @Override
            public byte[] parse(InputStream stream) {
                return new byte[0];
            }
        };
        return MethodDescriptor.newBuilder(none, none)
                .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
                .setFullMethodName("test.Deaf/Listen")
                .build();
    }

    /** The raw end of a client. */
    private final class Attacker implements AutoCloseable {
        final UnixSocket socket;
        final Mapping mapping;
        final MemorySegment memory;
        final PipeWriter writer;
        final PipeReader reader;

        Attacker() {
            socket = UnixSocket.connect(
                    RuntimeDirectory.at(directory).instances(CHANNEL).getFirst().socket());
            socket.send(PipeHello.ofClient(CHANNEL));
            Message answer = socket.receive(BOUND).orElseThrow();
            assertThat(PipeHello.refusalIn(answer.bytes(), CHANNEL)).isEmpty();
            try (SharedFile file = answer.adopt(0)) {
                mapping = file.map();
            }
            memory = mapping.memory();
            writer = new PipeWriter(memory, PipeLayout.Side.CLIENT);
            reader = new PipeReader(memory, PipeLayout.Side.SERVER);
        }

        /** Sends a frame as soon as there is room. */
        void sendAll(int kind, int stream, byte[] payload) {
            Await.until("room", () -> writer.hasRoom(payload.length));
            send(kind, 0, stream, 0, payload);
        }

        /** Reads the server's next frame, and discards its payload. */
        void awaitFrame() {
            Await.until("a frame", reader::next);
            reader.take();
            reader.release(true);
            socket.ring();
        }

        /** The kind of the server's next frame after those that this client's last frame may have caused. */
        int answerNow() {
            sendAll(Frame.PING, 0, new byte[Long.BYTES]);
            awaitFrame();
            return reader.kind();
        }

        void send(int kind, int flags, int stream, int extra, byte[] payload) {
            if (writer.hasRoom(payload.length)) {
                writer.write(kind, flags, stream, extra, payload, 0, payload.length);
                writer.publish();
            }
            socket.ring();
        }

        void awaitHangUp() {
            Await.until("the server to hang up", () -> socket.drain() < 0);
        }

        @Override
        public void close() {
            socket.close();
            mapping.close();
        }
    }

    private static byte[] open(String method, int headers) {
        byte[] name = method.getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(name.length + 2 * Integer.BYTES + Short.BYTES);
        return out.putInt(name.length)
                .put(name)
                .putInt(0)
                .putShort((short) headers)
                .array();
    }

    @Test
    void shouldHangUpOnEachBreach() {
        byte[] opened = open("grpc.health.v1.Health/Watch", 0);
        for (int breach = 0; breach < 10; breach++) {
            try (Attacker attacker = new Attacker()) {
                MemorySegment memory = attacker.memory;
                switch (breach) {
                    case 0 -> attacker.send(77, 0, 1, 0, new byte[0]);
                    case 1 -> attacker.send(Frame.DATA, 0, 1, 0, new byte[3]);
                    case 2 -> attacker.send(Frame.OPEN, 0, 1, 0, open("x", 1000));
                    case 3 -> attacker.send(Frame.OPEN, 0, 0, 0, opened);
                    case 4 -> {
                        attacker.send(Frame.OPEN, Frame.MORE, 1, 0, new byte[4096]);
                        attacker.send(Frame.PING, 0, 0, 0, new byte[8]);
                    }
                    case 5 -> PipeLayout.tail(memory, PipeLayout.Side.CLIENT, 3);
                    case 6 -> PipeLayout.tail(memory, PipeLayout.Side.CLIENT, 1L << 40);
                    case 7 -> {
                        memory.set(JAVA_INT, PipeLayout.pipe(PipeLayout.Side.CLIENT), Integer.MAX_VALUE);
                        PipeLayout.tail(memory, PipeLayout.Side.CLIENT, 64);
                    }
                    case 8 -> attacker.send(Frame.OPEN, Frame.MORE, 1, 0, new byte[1]);
                    default -> {
                        attacker.send(Frame.OPEN, 0, 1, 0, opened);
                        byte[] data = new byte[PipeLayout.MAX_PAYLOAD];
                        // Credit for bytes that were never sent.
                        attacker.send(
                                Frame.CREDIT,
                                0,
                                1,
                                0,
                                ByteBuffer.allocate(8).putLong(1L << 50).array());
                        attacker.send(Frame.DATA, 0, 1, 0, data);
                    }
                }
                attacker.socket.ring();
                attacker.awaitHangUp();
            }
            requireHonestAnswer();
        }
        Await.equal("connections", 1, connections::get);
    }

    /** Threads that answer find the wrong head, not the one that receives. */
    @Test
    void shouldHangUpOnAWrongHead() {
        try (Attacker attacker = new Attacker()) {
            PipeLayout.head(attacker.memory, PipeLayout.Side.SERVER, 1L << 40);
            awaitHangUpAfter(attacker, open("none/none", 0));
        }
        requireHonestAnswer();
        Await.equal("connections", 1, connections::get);
    }

    /** The server resets a stream with too much metadata. Its pipe fills, and then its heap must not. */
    @Test
    void shouldHangUpOnAClientThatReadsNoResets() {
        byte[] name = "x".getBytes(StandardCharsets.UTF_8);
        byte[] value = new byte[MOST_METADATA];
        Arrays.fill(value, (byte) 'v');
        ByteBuffer opened = ByteBuffer.allocate(5 * Integer.BYTES + Short.BYTES + 2 * name.length + value.length);
        opened.putInt(name.length).put(name).putInt(0).putShort((short) 1);
        opened.putInt(name.length).put(name).putInt(value.length).put(value);
        try (Attacker attacker = new Attacker()) {
            awaitHangUpAfter(attacker, Arrays.copyOf(opened.array(), opened.position()));
        }
        requireHonestAnswer();
        Await.equal("connections", 1, connections::get);
    }

    /** The pipe is full, so the GOAWAY waits for room. */
    @Test
    void shouldSendItsGoAwayToAClientThatReadsLate() {
        try (Attacker attacker = new Attacker()) {
            fillServersPipe(attacker);
            server.shutdown();
            // The same thread of the server ends both connections.
            Await.equal("connections", 1, connections::get);
            for (int i = 0; i < PONGS; i++) {
                attacker.awaitFrame();
                assertThat(attacker.reader.kind()).isEqualTo(Frame.PONG);
            }
            attacker.awaitFrame();
            assertThat(attacker.reader.kind()).isEqualTo(Frame.GOAWAY);
            attacker.awaitHangUp();
        }
    }

    @Test
    void shouldShutDownDespiteAClientThatNeverReads() throws Exception {
        try (Attacker attacker = new Attacker()) {
            fillServersPipe(attacker);
            honest.shutdownNow();
            server.shutdown();
            attacker.awaitHangUp();
            assertThat(server.awaitTermination(BOUND.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        }
    }

    /** Afterwards, the server's pipe has no room for another frame. */
    private static void fillServersPipe(Attacker attacker) {
        for (int i = 0; i < PONGS; i++) {
            attacker.sendAll(Frame.PING, 0, new byte[Long.BYTES]);
        }
        long full = (long) PONGS * Frame.bytes(Long.BYTES);
        assertThat(PipeLayout.PIPE_BYTES - full).isLessThan(Frame.HEADER_BYTES);
        Await.until("answers to all pings", () -> PipeLayout.tail(attacker.memory, PipeLayout.Side.SERVER) == full);
    }

    @Test
    void shouldRefuseStreamsAboveABoundAndThenHangUp() {
        byte[] opened = open(DEAF.getFullMethodName(), 0);
        try (Attacker attacker = new Attacker()) {
            for (int stream = 1; stream <= MOST_OPEN_STREAMS; stream++) {
                attacker.sendAll(Frame.OPEN, stream, opened);
            }
            assertThat(attacker.answerNow()).isEqualTo(Frame.PONG);
            attacker.sendAll(Frame.OPEN, MOST_OPEN_STREAMS + 1, opened);
            attacker.awaitFrame();
            assertThat(attacker.reader.kind()).isEqualTo(Frame.RESET);
            assertThat(attacker.reader.flags()).isEqualTo(Frame.REFUSED);
            assertThat(attacker.reader.stream()).isEqualTo(MOST_OPEN_STREAMS + 1);
            // A stream that ends makes room for another.
            attacker.sendAll(Frame.RESET, 7, new byte[0]);
            attacker.sendAll(Frame.OPEN, MOST_OPEN_STREAMS + 2, opened);
            assertThat(attacker.answerNow()).isEqualTo(Frame.PONG);
            requireHonestAnswer();
            awaitHangUpAfter(attacker, opened, MOST_OPEN_STREAMS + 2);
        }
        requireHonestAnswer();
        Await.equal("connections", 1, connections::get);
    }

    @Test
    void shouldResetTheStreamThatExceedsTheBudgetOfItsConnection() {
        int streams = BUDGET_BYTES / OutboundStream.WINDOW;
        try (Attacker attacker = new Attacker()) {
            for (int stream = 1; stream <= streams; stream++) {
                fill(attacker, stream);
            }
            assertThat(attacker.answerNow()).isEqualTo(Frame.PONG);
            for (int stream = streams + 1; stream <= streams + 2; stream++) {
                fill(attacker, stream);
                attacker.awaitFrame();
                assertThat(attacker.reader.kind()).isEqualTo(Frame.RESET);
                assertThat(attacker.reader.extra()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED.value());
                assertThat(attacker.reader.stream()).isEqualTo(stream);
            }
            // What a stream held, another may hold after its end.
            attacker.sendAll(Frame.RESET, 1, new byte[0]);
            fill(attacker, streams + 3);
            assertThat(attacker.answerNow()).isEqualTo(Frame.PONG);
            requireHonestAnswer();
        }
        requireHonestAnswer();
        Await.equal("connections", 1, connections::get);
    }

    /** Sends as much on a stream as its window admits, which no handler consumes. */
    private static void fill(Attacker attacker, int stream) {
        attacker.sendAll(Frame.OPEN, stream, open(DEAF.getFullMethodName(), 0));
        byte[] data = new byte[OutboundStream.WINDOW / 32];
        for (int i = 0; i < 32; i++) {
            attacker.sendAll(Frame.DATA, stream, data);
        }
    }

    /** Opens streams and reads no answer, so that the server's pipe fills. */
    private static void awaitHangUpAfter(Attacker attacker, byte[] opened) {
        awaitHangUpAfter(attacker, opened, 0);
    }

    private static void awaitHangUpAfter(Attacker attacker, byte[] opened, int openedBefore) {
        AtomicInteger lastStream = new AtomicInteger(openedBefore);
        Await.until("the server to hang up", () -> {
            while (attacker.writer.hasRoom(opened.length)) {
                attacker.send(Frame.OPEN, 0, lastStream.incrementAndGet(), 0, opened);
            }
            return attacker.socket.drain() < 0;
        });
    }

    @Test
    void shouldSurviveRandomFrames() {
        for (int i = 0; i < CASES; i++) {
            try (Attacker attacker = new Attacker()) {
                attack(attacker, random.nextInt(MOST_FRAMES));
            } catch (FrameBreachException e) {
                // The attacker has overwritten its own words.
                continue;
            }
            if (i % 16 == 0) {
                requireHonestAnswer();
            }
        }
        requireHonestAnswer();
        Await.equal("connections after seed " + seed, 1, connections::get);
    }

    private void attack(Attacker attacker, int frames) {
        int lastStream = 0;
        for (int i = 0; i < frames; i++) {
            if (random.nextInt(40) == 0) {
                long at = 8L * random.nextInt((int) (PipeLayout.FILE_BYTES / 8));
                attacker.memory.set(JAVA_LONG, at, random.nextBoolean() ? random.nextLong() : random.nextInt(100));
                continue;
            }
            int kind = random.nextInt(10);
            int stream = random.nextInt(20) == 0 ? random.nextInt() : lastStream;
            byte[] payload;
            if (kind == Frame.OPEN) {
                stream = ++lastStream;
                payload = open(random.nextBoolean() ? "grpc.health.v1.Health/Check" : "none/none", 0);
            } else {
                payload =
                        new byte[random.nextInt(10) == 0 ? random.nextInt(PipeLayout.MAX_PAYLOAD) : random.nextInt(16)];
            }
            if (random.nextInt(4) == 0) {
                random.nextBytes(payload);
            }
            // Mostly kinds that a server accepts, or no connection would live for long.
            if (random.nextInt(20) != 0 && kind != Frame.OPEN && kind != Frame.DATA && kind != Frame.RESET) {
                kind = lastStream == 0 ? Frame.PING : Frame.DATA;
                payload = kind == Frame.PING ? new byte[8] : payload;
            }
            attacker.send(kind, random.nextInt(8) == 0 ? random.nextInt(8) : 0, stream, random.nextInt(20), payload);
        }
    }
}
