package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.testkit.Await;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What two connected carriers do for a connection, whatever the transport. */
public abstract class CarrierContract {
    protected static final int BYTES = 1 << 20;
    protected static final long FLAG = BYTES - 8;

    private final SharedFile nearFile = SharedFile.memfd("near", BYTES);
    private final SharedFile farFile = SharedFile.memfd("far", BYTES);
    private final Mapping nearMapping = nearFile.map();
    private final Mapping farMapping = farFile.map();
    protected final MemorySegment near = nearMapping.memory();
    protected final MemorySegment far = farMapping.memory();
    private final CompletableFuture<Carrier> seated = new CompletableFuture<>();
    protected final News here = new News();
    protected final News there = new News();
    private CarrierProvider.Listener listener;
    protected Carrier client;
    protected Carrier server;
    /** When the carriers were started. */
    private long started;

    /** The arrivals at one end. */
    protected static final class News implements Carrier.Arrivals {
        private final Semaphore published = new Semaphore(0);
        private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

        @Override
        public void published() {
            published.release();
        }

        @Override
        public void told(long number) {
            heard.add("told " + number);
        }

        @Override
        public void ended() {
            heard.add("ended");
        }

        public String next() throws InterruptedException {
            return heard.poll(30, TimeUnit.SECONDS);
        }
    }

    protected static long word(MemorySegment memory) {
        return (long) ValueLayout.JAVA_LONG.varHandle().getAcquire(memory, FLAG);
    }

    /** Sleeps until the far end's word is there, as a poller does. */
    protected final void awaitFar(long wanted) throws InterruptedException {
        sleep(server, far, there, wanted);
    }

    /** The same of the near end. */
    protected final void awaitNear(long wanted) throws InterruptedException {
        sleep(client, near, here, wanted);
    }

    private static void sleep(Carrier end, MemorySegment memory, News news, long wanted) throws InterruptedException {
        end.listen();
        while (word(memory) != wanted) {
            assertThat(news.published.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
            news.published.drainPermits();
            end.listen();
        }
    }

    private static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    /** The transport. */
    protected abstract CarrierProvider provider();

    /** Where one end listens, at any port. */
    protected abstract URI anyPort();

    /** Delays all requests that are posted from now on. */
    protected abstract void slow(Duration delay);

    /** More pieces than find room, and few enough to wait for at 5 ms each. */
    protected abstract int manyPieces();

    /** Called when no carrier is open any more. */
    protected abstract void closeProvider();

    @BeforeEach
    void meet() {
        CarrierProvider provider = provider();
        listener = provider.listen(
                anyPort(),
                new OneReception(hello -> new CarrierProvider.Answer(
                        text("welcome to " + StandardCharsets.UTF_8.decode(hello)),
                        Optional.of(new OneSeat(new CarrierProvider.Memory(farFile, far), seated)))));
        CarrierProvider.Memory memory = new CarrierProvider.Memory(nearFile, near);
        CarrierProvider.Greeted greeted = provider.connect(listener.address(), memory, text("me"), 8, Await.BOUND);
        assertThat(StandardCharsets.UTF_8.decode(greeted.welcome()).toString()).isEqualTo("welcome to me");
        client = greeted.carrier().orElseThrow();
        server = seated.join();
        nearFile.close();
        farFile.close();
        started = System.nanoTime();
        client.start(here);
        server.start(there);
    }

    @AfterEach
    void part() {
        client.close();
        server.close();
        listener.close();
        closeProvider();
        nearMapping.close();
        farMapping.close();
    }

    @Test
    void shouldCarryPiecesBeforeTheWordThatTellsOfThem() throws Exception {
        new Random(1).ints(BYTES / 8).forEach(i -> near.set(ValueLayout.JAVA_INT, (i & 0x7fff) * 4L, i));
        for (long turn = 1; turn <= 100; turn++) {
            near.set(ValueLayout.JAVA_LONG, 4096, turn);
            assertThat(client.carry(0, 200_000)).isTrue();
            assertThat(client.publish(FLAG, turn)).isTrue();
            awaitFar(turn);
            assertThat(far.asSlice(0, 200_000).mismatch(near.asSlice(0, 200_000)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void shouldNotCarryWhatIsWrittenAfterwards() throws Exception {
        near.set(ValueLayout.JAVA_LONG, 64, 1);
        client.carryChanged(64, 8);
        near.set(ValueLayout.JAVA_LONG, 64, 2);
        client.publish(FLAG, 1);

        awaitFar(1);
        assertThat(far.get(ValueLayout.JAVA_LONG, 64)).isEqualTo(1);
    }

    @Test
    void shouldWakeNoThreadWhileWaitingThreadsLook() {
        for (long turn = 1; turn <= 200; turn++) {
            client.publish(FLAG, turn);
            while (word(far) != turn) {
                server.look();
                assertThat(System.nanoTime() - started).isLessThan(Await.BOUND.toNanos());
            }
        }
        // Except reminders, and the start.
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - started);
        assertThat((long) there.published.availablePermits()).isLessThanOrEqualTo(seconds + 3);
    }

    @Test
    void shouldTellOfProclaimedWordsWithoutAListener() throws Exception {
        // The start's announcement, and one that may follow it.
        assertThat(there.published.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        there.published.drainPermits();
        assertThat(client.proclaim(FLAG, 3)).isTrue();
        while (word(far) != 3) {
            assertThat(there.published.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** Calls do this at both ends. */
    @Test
    void shouldAllocateNothing() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long allocated = Long.MAX_VALUE;
        long turn = 1;
        // The first rounds allocate what is kept. A round in which this thread was kept from polling for long takes the
        // device over anew.
        for (int round = 0; round < 500 && allocated > 0; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 100; i++, turn++) {
                near.set(ValueLayout.JAVA_LONG, 4096, turn);
                client.carryChanged(4096, 64);
                client.carry(64, 16);
                client.store(128, turn);
                client.publish(FLAG, turn);
                for (int looks = 1; word(far) != turn; looks++) {
                    server.look();
                    if (looks % 100 == 0) {
                        // An agent process's pump may need this processor.
                        Thread.yield();
                    }
                }
            }
            allocated = threads.getCurrentThreadAllocatedBytes() - before;
        }
        assertThat(allocated).isZero();
    }

    @Test
    void shouldTellNumbersBothWaysInOrder() throws Exception {
        for (long number = 0; number < 200; number++) {
            assertThat(client.tell(number)).isTrue();
            assertThat(server.tell(-number)).isTrue();
        }
        for (long number = 0; number < 200; number++) {
            assertThat(there.next()).isEqualTo("told " + number);
            assertThat(here.next()).isEqualTo("told " + -number);
        }
    }

    /** Words that far apart travel as one piece each. */
    protected final void changeWords(int count) {
        for (int i = 0; i < count; i++) {
            near.set(ValueLayout.JAVA_LONG, i * 192L, i + 1);
        }
    }

    /** That thread also carries publications of other threads. */
    @Test
    void shouldGoOnWhenTheFirstCarryingThreadIsInterrupted() throws Exception {
        near.set(ValueLayout.JAVA_LONG, 64, 7);
        Thread.currentThread().interrupt();
        boolean carried = client.carryChanged(64, 8);
        assertThat(Thread.interrupted()).as("still interrupted").isTrue();
        assertThat(carried).isTrue();
        try (SharedFile area = SharedFile.memfd("area", 4096)) {
            Thread.currentThread().interrupt();
            client.fetchInto(area);
            assertThat(Thread.interrupted()).as("still interrupted").isTrue();
        }
        assertThat(client.publish(FLAG, 1)).isTrue();
        awaitFar(1);
        assertThat(far.get(ValueLayout.JAVA_LONG, 64)).isEqualTo(7);
    }

    /**
     * Other threads share the connection and have deadlines: a peer that accepts nothing must not delay a thread that
     * posts. The connection ends a little later.
     */
    @Test
    void shouldNotWaitForAPeerThatTakesNothing() throws Exception {
        slow(Duration.ofMinutes(1));
        changeWords(1000);
        assertThat(client.carryChanged(0, 1000 * 192)).isTrue();
        assertThat(client.publish(FLAG, 1)).isTrue();
        assertThat(here.next()).isEqualTo("ended");
        assertThat(client.publish(FLAG, 2)).isFalse();
    }

    @Test
    void shouldPostInOrderWhatFoundNoRoom() throws Exception {
        // Longer than a thread waits for room. The test is short: a machine that stops for two seconds would end the
        // connection.
        slow(Duration.ofMillis(5));
        changeWords(manyPieces());
        assertThat(client.carryChanged(0, manyPieces() * 192L)).isTrue();
        for (long turn = 1; turn <= 100; turn++) {
            assertThat(client.publish(FLAG, turn)).isTrue();
        }
        awaitFar(100);
        assertThat(far.asSlice(0, manyPieces() * 192L).mismatch(near.asSlice(0, manyPieces() * 192L)))
                .isEqualTo(-1);
    }

    @Test
    void shouldLetArriveWhatWasGivenBeforeTheEndAndThenTellOfIt() throws Exception {
        client.store(128, 5);
        client.publish(FLAG, 9);
        client.close();

        awaitFar(9);
        assertThat(there.next()).isEqualTo("ended");
        assertThat(far.get(ValueLayout.JAVA_LONG, 128)).isEqualTo(5);
        assertThat(client.publish(FLAG, 10)).isFalse();
        assertThat(server.publish(FLAG, 10)).isFalse();
    }

    @Test
    void shouldRefuseToCarryBeyondThePeersMemory() {
        assertThatThrownBy(() -> client.store(BYTES, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> client.carry(-8, 8)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(client.store(0, 1)).isTrue();
    }
}
