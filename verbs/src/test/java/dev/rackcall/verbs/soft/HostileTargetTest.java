package dev.rackcall.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.verbs.Bench;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Connected;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A hostile target device sends arbitrary answers: only the request's own segment is written, and other links are not
 * affected.
 */
class HostileTargetTest {
    private static final int LENGTH = 256;

    private final WorkRequest request = WorkRequest.create(1, 8);
    private Connected bystanders;
    private Bench victim;
    private QueuePair queuePair;
    private ServerSocket listening;
    private RawIdentity identity;
    private Gid gid;

    @BeforeEach
    void open() throws IOException {
        bystanders = new Connected(SoftDevice.of("bystander", SoftOptions.local()));
        victim = bystanders.a;
        listening = new ServerSocket(0, 5, SoftOptions.local().address());
        identity = RawIdentity.at(new InetSocketAddress(listening.getInetAddress(), listening.getLocalPort()));
        gid = identity.gid();
        queuePair = victim.connectedTo(gid, 77, Bench.PATIENT);
    }

    @AfterEach
    void close() throws Exception {
        try (Connected open = bystanders) {
            assertThat(open).isNotNull();
            listening.close();
            Bench.Done done =
                    bystanders.run(bystanders.b.write(request).inline(1).signaled());
            assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    private Socket accepted() throws IOException {
        Socket peer = listening.accept();
        assertThat(peer.getInputStream().readNBytes(FrameLayout.HELLO_BYTES)).hasSize(FrameLayout.HELLO_BYTES);
        return peer;
    }

    private byte[] hello(int version, Gid source) {
        return RawPeer.toArray(identity.claiming(source).hello(FrameLayout.MAGIC, version, victim.gid()));
    }

    private void read() {
        queuePair.postSend(
                request.read(0, 0).from(victim.region, 1024, LENGTH).id(5).signaled());
    }

    @Test
    void shouldNotTalkToAnotherVersionOrDevice() throws Exception {
        read();
        try (Socket peer = accepted()) {
            peer.getOutputStream().write(hello(FrameLayout.VERSION + 1, gid));
            assertThat(victim.next().status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);
        }
        queuePair.toReset();
        victim.connect(queuePair, gid, 77, Bench.PATIENT);
        read();
        try (Socket peer = accepted()) {
            peer.getOutputStream().write(hello(FrameLayout.VERSION, new Gid(3, 4)));
            assertThat(victim.next().status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);
        }
        queuePair.toReset();
        victim.connect(queuePair, gid, 77, Bench.PATIENT);
        read();
        try (Socket peer = accepted()) {
            RawIdentity stranger = RawIdentity.local().claiming(gid);
            peer.getOutputStream().write(RawPeer.toArray(stranger.hello(victim.gid())));
            assertThat(victim.next().status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);
        }
        assertThat(victim.context.unreachable(gid).orElseThrow().reason()).contains("another device answers");
    }

    @Test
    void shouldWriteOnlyWhereTheRequestSays() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        read();
        try (Socket peer = accepted()) {
            peer.getOutputStream().write(hello(FrameLayout.VERSION, gid));
            assertThat(peer.getInputStream().readNBytes(FrameLayout.REQUEST_BYTES))
                    .hasSize(FrameLayout.REQUEST_BYTES);
            for (int i = 0; i < 100; i++) {
                peer.getOutputStream().write(RawPeer.toArray(answer(random)));
            }
        } catch (IOException cutOff) {
            assertThat(cutOff).as("seed %d", seed).isNotNull();
        }
        Bench.Done done = victim.next();
        assertThat(done.id()).as("seed %d", seed).isEqualTo(5);
        if (done.status() != CompletionStatus.SUCCESS) {
            assertThat(queuePair.state()).as("seed %d", seed).isEqualTo(QueuePairState.ERROR);
        }
        assertThat(victim.memory.asSlice(0, 1024).toArray(ValueLayout.JAVA_BYTE))
                .as("before, seed %d", seed)
                .containsOnly(0);
        assertThat(victim.memory.asSlice(1024 + LENGTH, 4096).toArray(ValueLayout.JAVA_BYTE))
                .as("behind, seed %d", seed)
                .containsOnly(0);
    }

    /**
     * Half of the answers match the request, with random lengths and offsets; the others name another queue pair.
     */
    private ByteBuffer answer(Random random) {
        int payload = random.nextInt(2 * LENGTH);
        ByteBuffer frame =
                ByteBuffer.allocate(FrameLayout.RESPONSE_BYTES + payload).order(ByteOrder.LITTLE_ENDIAN);
        byte[] junk = new byte[frame.capacity()];
        random.nextBytes(junk);
        frame.put(0, junk);
        boolean own = random.nextBoolean();
        return frame.putInt(0, frame.capacity())
                .put(FrameLayout.KIND, (byte)
                        (own ? FrameLayout.READ_DATA : FrameLayout.ACKNOWLEDGE + random.nextInt(4)))
                .putInt(FrameLayout.DESTINATION, own ? queuePair.number() : bystanders.qa.number())
                .putInt(FrameLayout.RESPONSE_PACKET, own ? random.nextInt(2) : random.nextInt())
                .putInt(
                        FrameLayout.RESPONSE_OFFSET,
                        own ? random.nextInt(2) * random.nextInt(LENGTH) : random.nextInt());
    }
}
