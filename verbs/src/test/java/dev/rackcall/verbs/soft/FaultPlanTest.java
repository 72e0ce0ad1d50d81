package dev.rackcall.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.verbs.Bench;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Connected;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.WorkRequest;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import java.lang.foreign.ValueLayout;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Links that are cut, slow, lossy or silent. */
class FaultPlanTest {
    private final FaultPlan plan = FaultPlan.withSeed(42);
    private final SoftDevice device =
            SoftDevice.of("faulty", SoftOptions.local().withFaults(plan));
    private final WorkRequest request = WorkRequest.create(1, 64);

    private WorkRequest write(Bench to) {
        return to.write(request).inline(1).signaled();
    }

    @Test
    void shouldFailRequestsInFlightWhenALinkIsCut() throws Exception {
        FaultPlan slow = FaultPlan.none();
        SoftDevice peer = SoftDevice.of("slow", SoftOptions.local().withFaults(slow));
        try (Connected pair =
                new Connected(new Bench(device), new Bench(peer), Bench.PATIENT, InitAttributes.connected())) {
            pair.succeed(write(pair.b));
            slow.latency(Duration.ofSeconds(50));
            pair.b.write(request);
            for (int i = 0; i < 5; i++) {
                pair.qa.postSend(request.inline(100 + i).id(i));
            }
            Bench.waitUntil(
                    "all are done and none is answered", () -> pair.b.memory.get(ValueLayout.JAVA_LONG, 0) == 104);
            assertThat(plan.cutConnections()).isPositive();

            List<Bench.Done> ended = pair.a.next(5);
            assertThat(ended.getFirst().status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);
            assertThat(ended.subList(1, 5))
                    .allSatisfy(done -> assertThat(done.status()).isEqualTo(CompletionStatus.FLUSHED));
            assertThat(ended.stream().map(Bench.Done::id)).containsExactly(0L, 1L, 2L, 3L, 4L);

            slow.latency(Duration.ZERO);
            pair.reconnect();
            pair.succeed(write(pair.b));
        }
    }

    @Test
    void shouldReconnectWithoutRequestsInFlight() throws Exception {
        try (Connected pair = new Connected(device)) {
            for (int i = 0; i < 5; i++) {
                pair.succeed(write(pair.b));
                plan.cutConnections();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldCarryNothingWhileAPortIsDown(boolean own) throws Exception {
        FaultPlan peers = FaultPlan.none();
        SoftDevice peer = SoftDevice.of("peer", SoftOptions.local().withFaults(peers));
        FaultPlan hit = own ? plan : peers;
        try (Connected pair =
                new Connected(new Bench(device), new Bench(peer), Bench.PATIENT, InitAttributes.connected())) {
            pair.succeed(write(pair.b));
            hit.portDown();
            assertThat(pair.run(write(pair.b)).status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);
            pair.reconnect();
            assertThat(pair.run(write(pair.b)).status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);

            hit.portUp();
            pair.reconnect();
            pair.succeed(write(pair.b));
        }
    }

    /** A request that is done must not fail if the peer closes later. */
    @Test
    void shouldAcknowledgeUnsignaledRequestsBeforeClosing() throws Exception {
        Bench a = new Bench(device);
        Bench b = new Bench(SoftDevice.of("peer", SoftOptions.local()));
        try (a) {
            QueuePair qa = a.queuePair(QueuePairType.RC);
            try (b) {
                QueuePair qb = b.queuePair(QueuePairType.RC);
                a.connect(qa, b, qb);
                b.connect(qb, a, qa);
                qa.postSend(b.write(request).inline(77).id(77));
                Bench.waitUntil("it is there", () -> b.memory.get(ValueLayout.JAVA_LONG, 0) == 77);
            }
            qa.postSend(request.write(0, 0).inline(78).id(78));
            assertThat(a.next().id()).isEqualTo(78);
        }
    }

    @Test
    void shouldHoldMessagesAndAnswersBack() throws Exception {
        try (Connected pair = new Connected(device)) {
            pair.succeed(write(pair.b));
            plan.latency(Duration.ofMillis(30));
            long start = System.nanoTime();
            pair.succeed(write(pair.b));
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(60));
        }
    }

    @Test
    void shouldLoseDatagrams() throws Exception {
        try (Bench a = new Bench(device);
                Bench b = new Bench(device)) {
            QueuePair from = a.datagrams(1);
            QueuePair to = b.datagrams(1);
            var handle = a.keep(a.domain.createAddressHandle(a.pathTo(b)));
            plan.datagramLoss(0.5);
            for (int i = 0; i < 100; i++) {
                to.postReceive(b.receive(i, 0, 64));
                from.postSend(
                        request.send().inline(i).to(handle, to.number(), 1).signaled());
            }
            assertThat(a.next(100)).allSatisfy(done -> assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS));
            plan.datagramLoss(0);
            to.postReceive(b.receive(100, 0, 64));
            from.postSend(request.sendWithImmediate(-1).inline(0).to(handle, to.number(), 1));
            int arrived = 0;
            while (b.next().immediate() != -1) {
                arrived++;
            }
            assertThat(arrived).as("of 100 with half of them lost").isBetween(20, 80);
        }
    }

    @Test
    void shouldLoseCompletions() throws Exception {
        try (Connected pair = new Connected(device)) {
            plan.loseCompletions(1);
            pair.qa.postSend(write(pair.b).id(1));
            pair.qa.postSend(write(pair.b).id(2));
            assertThat(pair.a.next().id()).isEqualTo(2);
        }
    }

    @Test
    void shouldTimeOutOnASilentPeer() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 5, SoftOptions.local().address());
                Bench a = new Bench(device)) {
            var silentDevice =
                    RawIdentity.at(new java.net.InetSocketAddress(silent.getInetAddress(), silent.getLocalPort()));
            QueuePair queuePair =
                    a.connectedTo(silentDevice.gid(), 77, ReadyToSend.defaults().withRetries(10, 2));
            queuePair.postSend(request.write(0, 0).inline(1).id(5));
            try (Socket peer = silent.accept()) {
                byte[] hello = peer.getInputStream().readNBytes(FrameLayout.HELLO_BYTES);
                assertThat(hello).hasSize(FrameLayout.HELLO_BYTES);
                peer.getOutputStream().write(RawPeer.toArray(silentDevice.hello(a.gid())));
                Bench.Done done = a.next();
                assertThat(done.id()).isEqualTo(5);
                assertThat(done.status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);
            }
        }
    }

    @Test
    void shouldFailIfThePeerIsGone() throws Exception {
        try (Bench a = new Bench(device)) {
            Gid gone;
            try (Bench b = new Bench(device)) {
                gone = b.gid();
            }
            QueuePair queuePair = a.connectedTo(gone, 77, ReadyToSend.defaults());
            queuePair.postSend(request.write(0, 0).inline(1).signaled());
            assertThat(a.next().status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED);
            assertThat(queuePair.state()).isEqualTo(QueuePairState.ERROR);
        }
    }
}
