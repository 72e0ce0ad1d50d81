package dev.rackcall.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.verbs.Connected;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.LinkHello;
import dev.rackcall.verbs.soft.wire.Refusal;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A hostile peer sends arbitrary bytes: only its own link ends. */
class HostilePeerTest {
    private Connected pair;
    private Gid victim;

    @BeforeEach
    void open() {
        pair = new Connected(SoftDevice.of("victim", SoftOptions.local()));
        victim = pair.b.gid();
    }

    @AfterEach
    void othersNoticeNothing() throws Exception {
        try (Connected open = pair) {
            assertThat(open).isNotNull();
            WorkRequest request = WorkRequest.create(1, 8);
            pair.b.write(request).inline(1).signaled();
            pair.succeed(request);
            assertThat(pair.qb.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        }
    }

    private RawPeer connected() throws IOException {
        return RawPeer.accepted(victim);
    }

    @Test
    void shouldCloseOnAnotherProtocol() throws Exception {
        try (RawPeer peer = new RawPeer(victim)) {
            peer.send(RawPeer.hello(0x20544547, 0x20484854, victim));
            assertThat(peer.isClosed()).isTrue();
        }
    }

    @Test
    void shouldTellAnotherVersionWhy() throws Exception {
        try (RawPeer peer = new RawPeer(victim)) {
            peer.send(RawPeer.hello(FrameLayout.MAGIC, 99, victim));
            ByteBuffer answer = peer.read(FrameLayout.HELLO_BYTES);
            assertThat(answer.getInt(FrameLayout.HELLO_VERSION)).isEqualTo(FrameLayout.VERSION);
            assertThat(answer.getInt(FrameLayout.HELLO_ANSWER)).isEqualTo(LinkHello.Answer.OTHER_VERSION.ordinal());
            assertThat(peer.isClosed()).isTrue();
        }
    }

    @Test
    void shouldTellThatAnotherDeviceListens() throws Exception {
        try (RawPeer peer = new RawPeer(victim)) {
            peer.send(RawPeer.hello(
                    FrameLayout.MAGIC, FrameLayout.VERSION, new Gid(victim.high(), victim.low() ^ 1L << 40)));
            assertThat(peer.read(FrameLayout.HELLO_BYTES).getInt(FrameLayout.HELLO_ANSWER))
                    .isEqualTo(LinkHello.Answer.OTHER_DEVICE.ordinal());
            assertThat(peer.isClosed()).isTrue();
        }
    }

    @Test
    void shouldTimeOutWithoutAHello() throws Exception {
        try (RawPeer peer = new RawPeer(victim)) {
            peer.sendPart(RawPeer.hello(FrameLayout.MAGIC, FrameLayout.VERSION, victim), 20);
            assertThat(peer.isClosed()).isTrue();
        }
    }

    @Test
    void shouldCloseOnFramesOfImpossibleLength() throws Exception {
        for (int length : new int[] {0, -1, 71, FrameLayout.MAX_FRAME + 1, Integer.MAX_VALUE}) {
            try (RawPeer peer = connected()) {
                ByteBuffer frame =
                        ByteBuffer.allocate(FrameLayout.REQUEST_BYTES).order(java.nio.ByteOrder.LITTLE_ENDIAN);
                peer.send(frame.putInt(0, length));
                assertThat(peer.isClosed()).as("length %d", length).isTrue();
            }
        }
    }

    @Test
    void shouldCloseOnAnUnknownKind() throws Exception {
        try (RawPeer peer = connected()) {
            peer.send(RawPeer.request(FrameLayout.REQUEST_BYTES, 15));
            assertThat(peer.isClosed()).isTrue();
        }
    }

    @Test
    void shouldRefuseAStrangerAtAConnectedQueuePair() throws Exception {
        try (RawPeer peer = connected()) {
            ByteBuffer write = RawPeer.request(FrameLayout.REQUEST_BYTES + 8, 0)
                    .putInt(FrameLayout.DESTINATION, pair.qb.number())
                    .putInt(FrameLayout.SOURCE, pair.qa.number())
                    .putInt(FrameLayout.PACKET, pair.qa.number() & 0xFFFF)
                    .putInt(FrameLayout.MESSAGE_LENGTH, 8)
                    .putLong(FrameLayout.REMOTE_ADDRESS, pair.b.region.address())
                    .putInt(FrameLayout.REMOTE_KEY, pair.b.region.remoteKey())
                    .putLong(FrameLayout.REQUEST_BYTES, 0xBADL);
            peer.send(write);
            ByteBuffer answer = peer.read(FrameLayout.RESPONSE_BYTES);
            assertThat(answer.get(FrameLayout.KIND)).isEqualTo((byte) FrameLayout.REFUSE);
            assertThat(answer.get(FrameLayout.REASON)).isEqualTo((byte) Refusal.NO_ANSWER.ordinal());
            assertThat(pair.b.memory.get(java.lang.foreign.ValueLayout.JAVA_LONG, 0))
                    .isZero();
        }
    }

    @Test
    void shouldSurviveRandomFrames() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 20; round++) {
            try (RawPeer peer = connected()) {
                for (int i = 0; i < 200; i++) {
                    peer.send(randomFrame(random));
                }
            } catch (IOException cutOff) {
                assertThat(pair.qb.state()).as("seed %d", seed).isEqualTo(QueuePairState.READY_TO_SEND);
            }
        }
        assertThat(pair.b.memory.asSlice(0, 4096).toArray(java.lang.foreign.ValueLayout.JAVA_BYTE))
                .as("seed %d", seed)
                .containsOnly(0);
    }

    private ByteBuffer randomFrame(Random random) {
        byte[] payload = new byte[random.nextInt(64)];
        random.nextBytes(payload);
        ByteBuffer frame = RawPeer.request(FrameLayout.REQUEST_BYTES + payload.length, random.nextInt(7));
        for (int i = FrameLayout.FLAGS; i < FrameLayout.REQUEST_BYTES; i++) {
            frame.put(i, (byte) random.nextInt());
        }
        if (random.nextBoolean()) {
            frame.putInt(FrameLayout.DESTINATION, pair.qb.number());
            frame.putInt(FrameLayout.REMOTE_KEY, pair.b.region.remoteKey());
        }
        return frame.put(FrameLayout.REQUEST_BYTES, payload);
    }

    @Test
    void shouldAnswerAFloodOnlyAsFastAsItIsRead() throws Exception {
        try (RawPeer peer = connected()) {
            ByteBuffer read = RawPeer.request(FrameLayout.REQUEST_BYTES, 4).putInt(FrameLayout.SOURCE, 5);
            for (int i = 0; i < 20_000; i++) {
                peer.send(read);
            }
            for (int i = 0; i < 20_000; i++) {
                assertThat(peer.read(FrameLayout.RESPONSE_BYTES).get(FrameLayout.KIND))
                        .isEqualTo((byte) FrameLayout.REFUSE);
            }
        }
    }
}
