package dev.rackcall.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rdma.CarrierContract;
import dev.rackcall.rdma.end.CarrierLocks;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;

/** Two carriers over virtual queues between two hosts. */
class QueueCarrierTest extends CarrierContract {
    /** A thousand in the long tests. */
    private static final int TURNS = Integer.getInteger("rackcall.kills", 0) > 0 ? 1000 : 300;

    private final QueueHosts hosts = hosts();

    QueueHosts hosts() {
        return QueueHosts.open();
    }

    @Override
    protected CarrierProvider provider() {
        return new QueueCarriers();
    }

    @Override
    protected URI anyPort() {
        return hosts.anyPort();
    }

    @Override
    protected void slow(Duration delay) {
        hosts.faults().latency(delay);
    }

    @Override
    protected int manyPieces() {
        return 300;
    }

    @Override
    protected void closeProvider() {
        QueueHub.remind(true);
        hosts.faults().latency(Duration.ZERO);
        hosts.close();
    }

    /**
     * Otherwise no thread would check whether the peer has gone to sleep in the meantime, and no beat would be sent.
     */
    @Test
    void shouldSeeToAPublicationWhoseCompletionMadeRoomForOthers() {
        int words = 1000;
        for (long turn = 1; turn <= 20; turn++) {
            for (int i = 0; i < words; i++) {
                near.set(ValueLayout.JAVA_LONG, i * 192L, turn);
            }
            assertThat(client.publish(FLAG, turn)).isTrue();
            assertThat(client.carryChanged(0, words * 192L)).isTrue();
            Await.until("nothing is left to do", () -> !((QueueCarrier) client).isAttended());
        }
    }

    /**
     * Each publication is followed by words that are not awaited and find no room, and meets a peer that sleeps or is
     * about to.
     */
    @Test
    void shouldWakeSleepersWithoutReminders() throws Exception {
        QueueHub.remind(false);
        CompletableFuture<Integer> answered = Concurrently.start(() -> {
            for (int turn = 1; turn <= TURNS; turn++) {
                awaitFar(turn);
                publishAmongOthers(server, turn);
            }
            return TURNS;
        });
        for (int turn = 1; turn <= TURNS; turn++) {
            publishAmongOthers(client, turn);
            awaitNear(turn);
        }
        assertThat(answered.get(30, TimeUnit.SECONDS)).isEqualTo(TURNS);
    }

    /** Only publications wake a listening peer. */
    @Test
    void shouldLetSleepersSleepThroughSignsOfLife() {
        QueueHub.remind(false);
        AtomicInteger woken = new AtomicInteger();
        QueueCarrier asks = (QueueCarrier) client;
        QueueCarrier sleeps = (QueueCarrier) server;
        sleeps.start(new Counting(woken));
        sleeps.listen();
        Await.until("the peer knows that it sleeps", () -> !sleeps.isAttended());
        // The hub publishes what came late before it attends to an end again.
        awaitSignOfLife(asks);
        int before = woken.get();
        for (int i = 0; i < 3; i++) {
            awaitSignOfLife(asks);
        }
        assertThat(woken.get()).isEqualTo(before);
    }

    private static void awaitSignOfLife(QueueCarrier asks) {
        Await.until("a sign of life is asked for", asks::isAttended);
        Await.until("it was given", () -> !asks.isAttended());
    }

    /** A device's acknowledgement does not promise that the peer's processor sees the write. */
    @Test
    void shouldKnowThatThePeerSeesThatAThreadSleeps() {
        QueueCarrier sleeps = (QueueCarrier) server;
        assertThat(sleeps.hasSeenListening()).isFalse();
        sleeps.listen();
        Await.until("nothing is left to do", () -> !sleeps.isAttended());
        assertThat(sleeps.hasSeenListening()).isTrue();
    }

    private record Counting(AtomicInteger woken) implements Carrier.Arrivals {
        @Override
        public void published() {
            woken.incrementAndGet();
        }

        @Override
        public void told(long number) {}

        @Override
        public void ended() {}
    }

    private static void publishAmongOthers(Carrier carrier, long turn) {
        assertThat(carrier.publish(FLAG, turn)).isTrue();
        for (int i = 0; i < 20; i++) {
            assertThat(carrier.store(128, turn)).isTrue();
        }
    }

    /** Threads that spin for hardware, or poll the device themselves, must not yield between their looks. */
    @Test
    void shouldSayWhetherAnAgentProcessMovesItsTraffic() {
        boolean moved = hosts.areServed() && !hosts.clients().isHardware();
        assertThat(client.isMovedByProcess()).isEqualTo(moved);
        assertThat(server.isMovedByProcess()).isEqualTo(moved);
    }

    /**
     * The hub's thread asks each carrier it attends to. A posting thread may hold the carrier's lock for as long as a
     * peer is silent.
     */
    @Test
    void shouldSayWhetherItIsAttendedWhileAThreadPosts() throws Exception {
        QueueCarrier carrier = (QueueCarrier) client;
        ReentrantLock lock = CarrierLocks.of(carrier);
        lock.lock();
        try {
            // Not in the common pool, which may have no thread to spare.
            Concurrently.get(Concurrently.start(carrier::isAttended));
        } finally {
            lock.unlock();
        }
    }
}
