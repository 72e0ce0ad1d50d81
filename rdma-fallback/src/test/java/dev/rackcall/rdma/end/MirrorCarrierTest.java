package dev.rackcall.rdma.end;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.SharedFile;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The sending half, over a fake queue and fake memory. */
class MirrorCarrierTest {
    private static final int EMFILE = 24;
    private static final int BYTES = 1 << 16;

    private final ExecutorService others = Executors.newVirtualThreadPerTaskExecutor();
    private final FakeQueue queue = new FakeQueue();
    private final FakeMemory memory = new FakeMemory(BYTES);
    private final FakeCarrier carrier = new FakeCarrier(memory, queue, 8);

    MirrorCarrierTest() {
        carrier.aim(new PeerMemory(0x10_0000, 7, BYTES));
    }

    @AfterEach
    void close() {
        carrier.close();
        others.close();
        memory.close();
    }

    private void change(long offset) {
        memory.region().memory().set(ValueLayout.JAVA_LONG, offset, 1);
    }

    /** An agent process may first clear much memory, or not answer for seconds. */
    @Test
    void shouldLetOthersSendWhileMemoryIsRegistered() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch begun = memory.hold(over);
        change(64);
        Future<Boolean> carried = others.submit(() -> carrier.carryChanged(0, BYTES));
        begun.await();
        try {
            assertThat(others.submit(() -> carrier.publish(8, 1, false)).get(30, TimeUnit.SECONDS))
                    .isTrue();
            assertThat(queue.posted()).isEqualTo(1);
        } finally {
            over.countDown();
        }
        assertThat(carried.get()).isTrue();
        assertThat(carrier.flush()).isTrue();
        assertThat(queue.posted()).isEqualTo(2);
        assertThat(carrier.carriedBytes()).isEqualTo(Long.BYTES);
    }

    @Test
    void shouldLetOthersSendWhileThePlaceForWhatIsFetchedIsRegistered() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch begun = memory.hold(over);
        try (SharedFile area = SharedFile.memfd("area", BYTES)) {
            Future<?> known = others.submit(() -> carrier.fetchInto(area));
            begun.await();
            try {
                assertThat(others.submit(() -> carrier.publish(8, 1, false)).get(30, TimeUnit.SECONDS))
                        .isTrue();
            } finally {
                over.countDown();
            }
            known.get();
            assertThat(carrier.fetch(0, 0, 100, System.nanoTime() + TimeUnit.SECONDS.toNanos(30)))
                    .isTrue();
        }
    }

    @Test
    void shouldRegisterOneShadowForThreadsThatNeedItAtOnce() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch begun = memory.hold(over);
        Future<Boolean> first = others.submit(() -> carrier.carryChanged(0, 64));
        begun.await();
        Future<Boolean> second = others.submit(() -> carrier.carryChanged(64, 64));
        over.countDown();
        assertThat(first.get()).isTrue();
        assertThat(second.get()).isTrue();
        assertThat(memory.registered()).isEqualTo(1);
    }

    /** Later changes build on what was not carried. */
    @Test
    void shouldEndTheConnectionIfNoShadowCanBeMade() {
        memory.refuse(new OsException("memfd_create", EMFILE));
        assertThat(carrier.carryChanged(0, 64)).isFalse();
        assertThat(carrier.whyEnded()).contains("memfd_create");
        assertThat(carrier.isTold()).isTrue();
        assertThat(carrier.store(0, 1)).isFalse();
    }

    /** It would wait for the next agent, and register memory there for a connection of the last one. */
    @Test
    void shouldRegisterNothingOnceItsQueueHasFailed() {
        queue.fail("the agent process has ended");
        assertThat(carrier.carryChanged(0, 64)).isFalse();
        assertThat(memory.registered()).isZero();
        assertThat(carrier.whyEnded()).isEqualTo("the agent process has ended");
        assertThat(carrier.isTold()).isTrue();
    }

    /** Only the call that asked for it fails. */
    @Test
    void shouldLiveOnIfTheFileForWhatIsFetchedCannotBeMapped() {
        memory.refuse(new OsException("mmap", EMFILE));
        try (SharedFile area = SharedFile.memfd("area", BYTES)) {
            assertThatThrownBy(() -> carrier.fetchInto(area)).isInstanceOf(OsException.class);
        }
        assertThat(carrier.store(0, 1)).isTrue();
    }

    @Test
    void shouldNotWaitForWhatIsFetchedOnceItIsClosed() throws Exception {
        queue.completeNothing();
        Future<Boolean> fetched;
        try (SharedFile area = SharedFile.memfd("area", BYTES)) {
            carrier.fetchInto(area);
            fetched = others.submit(() -> carrier.fetch(0, 0, 100, System.nanoTime() + TimeUnit.DAYS.toNanos(1)));
            carrier.awaitLook();
        }
        carrier.close();
        assertThat(fetched.get(30, TimeUnit.SECONDS)).isFalse();
    }

    @Test
    void shouldLetWhatNeedsNoHasteWaitForWhatDoes() {
        carrier.store(0, 1);
        carrier.store(8, 2);
        assertThat(queue.posted()).isZero();
        carrier.publish(16, 3, false);
        assertThat(queue.posts()).containsExactly(3);
    }

    @Test
    void shouldLetABatchSetOutThatNothingUrgentFollows() {
        for (int i = 0; i < 9; i++) {
            carrier.store(8L * i, i);
        }
        assertThat(queue.posts()).containsExactly(8);
    }

    @Test
    void shouldAskForHelpOnceWithWhatFindsNoRoom() {
        queue.room(1);
        carrier.store(0, 1);
        assertThat(carrier.helped()).isZero();
        carrier.publish(8, 2, false);
        carrier.publish(16, 3, false);
        assertThat(carrier.helped()).isEqualTo(1);
        queue.room(100);
        carrier.help();
        assertThat(queue.posted()).isEqualTo(3);
    }

    @Test
    void shouldThrowWhatIsNoFailureOfTheConnection() {
        assertThatThrownBy(() -> carrier.store(BYTES, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(carrier.hasEnded()).isFalse();
    }

    @Test
    void shouldEndForAPeerThatHasLessMemoryThanTheConnection() {
        carrier.aim(new PeerMemory(0x10_0000, 7, 64));
        assertThat(carrier.store(64, 1)).isFalse();
        assertThat(carrier.whyEnded()).contains("only 64 bytes");
    }
}
