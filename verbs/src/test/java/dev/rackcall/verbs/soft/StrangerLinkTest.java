package dev.rackcall.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.Bench;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Connected;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.Unreachable;
import dev.rackcall.verbs.WorkRequest;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import dev.rackcall.verbs.soft.wire.LinkHello;
import dev.rackcall.verbs.soft.wire.SoftGid;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a process gets that reaches a device's port but is not the peer that it says it is, or does nothing there. */
class StrangerLinkTest {
    private static final int EMPTY_WRITE = 0;
    private static final long FEW_BYTES = 8 << 20;

    private final WorkRequest request = WorkRequest.create(1, 8);
    private Connected pair;
    private Gid victim;

    @BeforeEach
    void open() {
        pair = new Connected(SoftDevice.of("victim", SoftOptions.local()));
        pair.succeed(pair.b.write(request).inline(1).signaled());
        victim = pair.b.gid();
    }

    @AfterEach
    void honestPeersNoticeNothing() throws Exception {
        try (Connected open = pair) {
            open.succeed(open.b.write(request).inline(2).signaled());
            assertThat(open.qb.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        }
    }

    private ByteBuffer answerTo(ByteBuffer hello) throws IOException {
        try (RawPeer peer = new RawPeer(victim)) {
            peer.send(hello);
            ByteBuffer answer = peer.read(FrameLayout.HELLO_BYTES);
            assertThat(peer.isClosed()).isTrue();
            return answer;
        }
    }

    private static LinkHello.Answer code(ByteBuffer answer) {
        return LinkHello.Answer.values()[answer.getInt(FrameLayout.HELLO_ANSWER)];
    }

    // ---- whose GID it is

    @Test
    void shouldTellNoGidToAPeerThatItTurnsAway() throws Exception {
        Gid guessed = new Gid(victim.high(), victim.low() ^ 1L << 40);
        for (ByteBuffer hello : List.of(
                RawIdentity.local().hello(guessed),
                RawIdentity.local().hello(FrameLayout.MAGIC, 99, victim),
                RawIdentity.local().claiming(pair.a.gid()).hello(victim))) {
            ByteBuffer answer = answerTo(hello);
            assertThat(code(answer)).isNotEqualTo(LinkHello.Answer.ACCEPTED);
            for (int i = FrameLayout.HELLO_SOURCE; i < FrameLayout.HELLO_ANSWER; i++) {
                assertThat(answer.get(i)).as("byte %d", i).isZero();
            }
        }
    }

    @Test
    void shouldRefuseALinkThatClaimsTheGidOfAnother() throws Exception {
        assertThat(code(answerTo(RawIdentity.local().claiming(pair.a.gid()).hello(victim))))
                .isEqualTo(LinkHello.Answer.NOT_PROVEN);
    }

    @Test
    void shouldRefuseALinkThatClaimsItsOwnGid() throws Exception {
        assertThat(code(answerTo(RawIdentity.local().claiming(victim).hello(victim))))
                .isEqualTo(LinkHello.Answer.NOT_PROVEN);
    }

    @Test
    void shouldRefuseAGidOfAnotherAddress() throws Exception {
        RawIdentity elsewhere = RawIdentity.at(new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 4242));
        assertThat(code(answerTo(elsewhere.hello(victim)))).isEqualTo(LinkHello.Answer.NOT_PROVEN);

        InetSocketAddress port = SoftGid.address(victim);
        InetAddress other = InetAddress.ofLiteral("127.0.0.2");
        try (RawPeer peer = new RawPeer(new Socket(port.getAddress(), port.getPort(), other, 0))) {
            assertThat(peer.greet(RawIdentity.local().hello(victim))).isEqualTo(LinkHello.Answer.NOT_PROVEN);
        }
    }

    /** Even the right proof is not enough while the first link is open. */
    @Test
    void shouldRefuseASecondLinkOfTheSameGid() throws Exception {
        RawIdentity identity = RawIdentity.local();
        try (RawPeer first = RawPeer.accepted(victim, identity)) {
            assertThat(code(answerTo(identity.hello(victim)))).isEqualTo(LinkHello.Answer.GID_IN_USE);
            first.send(RawPeer.request(FrameLayout.REQUEST_BYTES, EMPTY_WRITE));
            assertThat(first.read(FrameLayout.RESPONSE_BYTES).get(FrameLayout.KIND))
                    .isEqualTo((byte) FrameLayout.REFUSE);
        }
        RawPeer.accepted(victim, identity).close();
    }

    // ---- guesses

    @Test
    void shouldNumberQueuePairsAtRandom() throws Exception {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            QueuePair made = pair.b.queuePair(QueuePairType.RC);
            numbers.add(made.number() & 0xFFFF);
        }
        // The numbers before were 2 to 5. At random, this fails once in 10^18 runs.
        assertThat(numbers).isNotEqualTo(List.of(2, 3, 4, 5));
        assertThat(numbers).anyMatch(number -> number > 1000);
    }

    @Test
    void shouldCloseALinkThatGuessesQueuePairs() throws Exception {
        try (RawPeer peer = RawPeer.accepted(victim)) {
            assertThat(isClosedAfter(
                            peer,
                            i -> RawPeer.request(FrameLayout.REQUEST_BYTES, EMPTY_WRITE)
                                    .putInt(FrameLayout.DESTINATION, 1000 + i * 7)))
                    .isTrue();
        }
    }

    @Test
    void shouldCloseALinkThatGuessesPacketNumbers() throws Exception {
        RawIdentity identity = RawIdentity.local();
        QueuePair own = pair.b.connectedTo(identity.gid(), 77, Bench.PATIENT);
        try (RawPeer peer = RawPeer.accepted(victim, identity)) {
            // These may be sent again after a refusal: ignored, however many.
            for (int i = 1; i < 5000; i++) {
                peer.send(numbered(own, i));
            }
            peer.send(numbered(own, 0).put(FrameLayout.FLAGS, (byte) FrameLayout.WANTS_ANSWER));
            assertThat(peer.read(FrameLayout.RESPONSE_BYTES).get(FrameLayout.KIND))
                    .isEqualTo((byte) FrameLayout.ACKNOWLEDGE);
            assertThat(isClosedAfter(peer, i -> numbered(own, 1_000_000 + i))).isTrue();
        }
    }

    private static ByteBuffer numbered(QueuePair to, int packet) {
        return RawPeer.request(FrameLayout.REQUEST_BYTES, EMPTY_WRITE)
                .putInt(FrameLayout.DESTINATION, to.number())
                .putInt(FrameLayout.SOURCE, 77)
                .putInt(FrameLayout.PACKET, packet);
    }

    /** Sends guesses; returns whether the device has closed the link. It reads them at its own pace. */
    private static boolean isClosedAfter(RawPeer peer, IntFunction<ByteBuffer> guesses) {
        try {
            for (int i = 0; i < 100_000; i++) {
                peer.send(guesses.apply(i));
                peer.skipAnswers();
            }
        } catch (IOException closed) {
            return true;
        }
        return peer.isClosed();
    }

    // ---- costs

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> "direct".equals(pool.getName()))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    @Test
    void shouldTakeNoDirectMemoryBeforeTheHello() throws Exception {
        List<RawPeer> silent = new ArrayList<>();
        try {
            RawPeer.accepted(victim).close();
            long before = directBytes();
            for (int i = 0; i < 100; i++) {
                silent.add(new RawPeer(victim));
                silent.getLast().sendPart(RawIdentity.local().hello(victim), 60);
            }
            // The device has accepted all before this one.
            RawPeer.accepted(victim).close();
            assertThat(directBytes() - before).isLessThan(FEW_BYTES);
        } finally {
            closeAll(silent);
        }
    }

    @Test
    void shouldGiveBuffersBackWhenLinksEnd() throws Exception {
        RawPeer.accepted(victim).close();
        long before = directBytes();
        for (int i = 0; i < 200; i++) {
            try (RawPeer peer = RawPeer.accepted(victim)) {
                // A large frame needs a large buffer.
                peer.send(RawPeer.request(FrameLayout.MAX_FRAME, EMPTY_WRITE));
                peer.read(FrameLayout.RESPONSE_BYTES);
                peer.sendPart(RawPeer.request(FrameLayout.REQUEST_BYTES, 15), 8);
            }
        }
        assertThat(directBytes() - before).isLessThan(FEW_BYTES);
    }

    @Test
    void shouldMakeRoomForANewLinkAmongSilentOnes() throws Exception {
        List<RawPeer> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 400; i++) {
                silent.add(new RawPeer(victim));
            }
            RawPeer.accepted(victim).close();
            assertThat(silent.getFirst().isClosed()).isTrue();
        } finally {
            closeAll(silent);
        }
    }

    private static void closeAll(List<RawPeer> peers) throws IOException {
        for (RawPeer peer : peers) {
            peer.close();
        }
    }

    @Test
    void shouldLogTenLinesASecondAndCountTheRest() throws Exception {
        PrintStream before = System.err;
        ByteArrayOutputStream written = new ByteArrayOutputStream();
        System.setErr(new PrintStream(written, true, StandardCharsets.UTF_8));
        long begin = System.nanoTime();
        try {
            for (int i = 0; i < 300; i++) {
                junk();
            }
            Await.until("a line says how many were left out", () -> {
                junk();
                return written.toString(StandardCharsets.UTF_8).contains("more such lines were left out");
            });
        } finally {
            System.setErr(before);
        }
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin) + 2;
        assertThat(written.toString(StandardCharsets.UTF_8).lines().filter(line -> line.contains("victim from")))
                .hasSizeBetween(1, (int) (10 * seconds));
    }

    private void junk() {
        try (RawPeer peer = new RawPeer(victim)) {
            peer.send(RawIdentity.local().hello(0x20544547, 0x20484854, victim));
            assertThat(peer.isClosed()).isTrue();
        } catch (IOException closed) {
            assertThat(closed).isNotNull();
        }
    }

    // ---- places

    @Test
    void shouldMakeRoomForTheNewestPeer() throws Exception {
        try (Bench small = new Bench(SoftDevice.of("small", SoftOptions.local().withMaxPeers(2)));
                RawPeer first = RawPeer.accepted(small.gid());
                RawPeer second = RawPeer.accepted(small.gid());
                RawPeer third = RawPeer.accepted(small.gid())) {
            assertThat(first.isClosed())
                    .as("the idle one that was heard of first")
                    .isTrue();
            for (RawPeer left : List.of(second, third)) {
                left.send(RawPeer.request(FrameLayout.REQUEST_BYTES, EMPTY_WRITE));
                left.read(FrameLayout.RESPONSE_BYTES);
            }
        }
    }

    @Test
    void shouldKeepPeersWithQueuePairsAndSayThatItIsFull() throws Exception {
        RawIdentity identity = RawIdentity.local();
        try (Bench small = new Bench(SoftDevice.of("small", SoftOptions.local().withMaxPeers(1)));
                RawPeer first = RawPeer.accepted(small.gid(), identity)) {
            QueuePair own = small.connectedTo(identity.gid(), 77, Bench.PATIENT);
            QueuePair late = pair.a.connectedTo(small.gid(), own.number(), ReadyToSend.defaults());
            late.postSend(small.write(request).inline(1).signaled());
            assertThat(pair.a.next().status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);
            Unreachable why = pair.a.context.unreachable(small.gid()).orElseThrow();
            assertThat(why.full()).isTrue();
            assertThat(why.reason()).contains("maximum number of peers").contains("withMaxPeers");

            first.send(numbered(own, 0).put(FrameLayout.FLAGS, (byte) FrameLayout.WANTS_ANSWER));
            assertThat(first.read(FrameLayout.RESPONSE_BYTES).get(FrameLayout.KIND))
                    .isEqualTo((byte) FrameLayout.ACKNOWLEDGE);
        }
    }
}
