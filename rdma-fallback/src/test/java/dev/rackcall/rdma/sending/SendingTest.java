package dev.rackcall.rdma.sending;

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
import org.junit.jupiter.api.Timeout;

/** What the sending half does by itself, over a queue and memory that the test has in hand. */
@Timeout(60)
class SendingTest {
    private static final int EMFILE = 24;
    private static final int BYTES = 1 << 16;

    private final ExecutorService others = Executors.newVirtualThreadPerTaskExecutor();
    private final FakeQueue queue = new FakeQueue();
    private final FakeMemory memory = new FakeMemory(BYTES);
    private final FakeConnection connection = new FakeConnection();
    private final PlainSending sending = new PlainSending(connection, memory, queue, 8);

    SendingTest() {
        sending.aim(new PeerMemory(0x10_0000, 7, BYTES));
    }

    @AfterEach
    void close() {
        sending.close();
        others.close();
        memory.close();
    }

    private void change(long offset) {
        memory.region().memory().set(ValueLayout.JAVA_LONG, offset, 1);
    }

    /** An agent's process may clear a lot of memory first, or not answer for seconds. */
    @Test
    void shouldLetOthersSendWhileMemoryIsRegistered() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch begun = memory.hold(over);
        change(64);
        Future<Boolean> carried = others.submit(() -> sending.carryChanged(0, BYTES));
        begun.await();
        try {
            assertThat(others.submit(() -> sending.publish(8, 1, false)).get(30, TimeUnit.SECONDS))
                    .isTrue();
            assertThat(queue.posted()).isEqualTo(1);
        } finally {
            over.countDown();
        }
        assertThat(carried.get()).isTrue();
        assertThat(sending.flush()).isTrue();
        assertThat(queue.posted()).isEqualTo(2);
        assertThat(sending.carriedBytes()).isEqualTo(Long.BYTES);
    }

    @Test
    void shouldLetOthersSendWhileThePlaceForWhatIsFetchedIsRegistered() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch begun = memory.hold(over);
        try (SharedFile area = SharedFile.memfd("area", BYTES)) {
            Future<?> known = others.submit(() -> sending.fetchInto(area));
            begun.await();
            try {
                assertThat(others.submit(() -> sending.publish(8, 1, false)).get(30, TimeUnit.SECONDS))
                        .isTrue();
            } finally {
                over.countDown();
            }
            known.get();
            assertThat(sending.fetch(0, 0, 100, System.nanoTime() + TimeUnit.SECONDS.toNanos(30)))
                    .isTrue();
        }
    }

    @Test
    void shouldRegisterOneTwinForAllWhoNeedItAtOnce() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch begun = memory.hold(over);
        Future<Boolean> first = others.submit(() -> sending.carryChanged(0, 64));
        begun.await();
        Future<Boolean> second = others.submit(() -> sending.carryChanged(64, 64));
        over.countDown();
        assertThat(first.get()).isTrue();
        assertThat(second.get()).isTrue();
        assertThat(memory.registered()).isEqualTo(1);
    }

    /** What is not carried now would be missing in what is carried later. */
    @Test
    void shouldEndTheConnectionIfNoTwinCanBeMade() {
        memory.refuse(new OsException("memfd_create", EMFILE));
        assertThat(sending.carryChanged(0, 64)).isFalse();
        assertThat(connection.why()).contains("memfd_create");
        assertThat(connection.isTold()).isTrue();
        assertThat(sending.store(0, 1)).isFalse();
    }

    /** It would wait for the next agent, and register there for a connection that went with the last one. */
    @Test
    void shouldRegisterNothingOnceItsQueueHasFailed() {
        queue.fail("the agent process has ended");
        assertThat(sending.carryChanged(0, 64)).isFalse();
        assertThat(memory.registered()).isZero();
        assertThat(connection.why()).isEqualTo("the agent process has ended");
        assertThat(connection.isTold()).isTrue();
    }

    /** That is the matter of the call that asked for it. */
    @Test
    void shouldLiveOnIfTheFileForWhatIsFetchedCannotBeMapped() {
        memory.refuse(new OsException("mmap", EMFILE));
        try (SharedFile area = SharedFile.memfd("area", BYTES)) {
            assertThatThrownBy(() -> sending.fetchInto(area)).isInstanceOf(OsException.class);
        }
        assertThat(sending.store(0, 1)).isTrue();
    }

    @Test
    void shouldNotWaitForWhatIsFetchedOnceItIsClosed() throws Exception {
        queue.completeNothing();
        Future<Boolean> fetched;
        try (SharedFile area = SharedFile.memfd("area", BYTES)) {
            sending.fetchInto(area);
            fetched = others.submit(() -> sending.fetch(0, 0, 100, System.nanoTime() + TimeUnit.DAYS.toNanos(1)));
            connection.awaitLook();
        }
        sending.close();
        assertThat(fetched.get(30, TimeUnit.SECONDS)).isFalse();
    }

    @Test
    void shouldLetWhatNeedsNoHasteWaitForWhatDoes() {
        sending.store(0, 1);
        sending.store(8, 2);
        assertThat(queue.posted()).isZero();
        sending.publish(16, 3, false);
        assertThat(queue.posts()).containsExactly(3);
    }

    @Test
    void shouldLetABatchSetOutThatNothingUrgentFollows() {
        for (int i = 0; i < 9; i++) {
            sending.store(8L * i, i);
        }
        assertThat(queue.posts()).containsExactly(8);
    }

    @Test
    void shouldAskForHelpOnceWithWhatFindsNoRoom() {
        queue.room(1);
        sending.store(0, 1);
        assertThat(sending.helped()).isZero();
        sending.publish(8, 2, false);
        sending.publish(16, 3, false);
        assertThat(sending.helped()).isEqualTo(1);
        queue.room(100);
        sending.help();
        assertThat(queue.posted()).isEqualTo(3);
    }

    @Test
    void shouldThrowWhatIsNoFailureOfTheConnection() {
        assertThatThrownBy(() -> sending.store(BYTES, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(connection.hasEnded()).isFalse();
    }

    @Test
    void shouldEndForAPeerThatHasLessMemoryThanTheConnection() {
        sending.aim(new PeerMemory(0x10_0000, 7, 64));
        assertThat(sending.store(64, 1)).isFalse();
        assertThat(connection.why()).contains("only 64 bytes");
    }
}
