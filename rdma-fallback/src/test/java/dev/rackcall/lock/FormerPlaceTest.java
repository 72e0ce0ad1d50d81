package dev.rackcall.lock;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.testkit.Await;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What becomes of the descriptors of threads that give up waiting and come back: all threads share them. */
@SuppressWarnings("LockNotBeforeTry")
class FormerPlaceTest extends LockFixture {
    private static final int DESCRIPTORS = 7;
    private static final int LOCKS = 6;
    private static final long HOLDER = 1;
    private static final long WAITER = 2;
    private static final long OTHER = 3;
    private static final int TURNS = 1000;

    FormerPlaceTest() {
        super(DESCRIPTORS, LOCKS, false);
    }

    /** A session belongs to the thread that used it first. */
    private final ExecutorService waiter = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "waiter");
        waiterThread = thread;
        return thread;
    });

    private Thread waiterThread;

    @AfterEach
    void close() {
        // Interrupts a thread that still waits.
        waiter.shutdownNow();
        waiter.close();
    }

    private LockSession session(boolean local, long owner) {
        return local ? local(owner) : remote(owner);
    }

    /** How many descriptors this owner has. */
    private long descriptorsOf(long owner) {
        return IntStream.rangeClosed(1, 2 * DESCRIPTORS)
                .mapToLong(LockLayout::descriptor)
                .filter(at -> words.load(at + LockLayout.OWNER) == owner)
                .count();
    }

    /** The last in the queue of lock 0. */
    private long tail(boolean local) {
        return words.load(LockLayout.lock(DESCRIPTORS, 0) + (local ? LockLayout.LOCAL_TAIL : LockLayout.REMOTE_TAIL));
    }

    private void comeBackOften(LockSession holder, LockSession session, LockSession other) throws Exception {
        ALock held = locked(holder, 0);
        ALock lock = session.lock(0);
        for (int i = 0; i < TURNS; i++) {
            assertThat(lock.tryLock(1, TimeUnit.MICROSECONDS)).isFalse();
        }
        for (int i = 0; i < 2 * DESCRIPTORS; i++) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> lock.tryLock(1, TimeUnit.DAYS)).isInstanceOf(InterruptedException.class);
        }
        assertThat(descriptorsOf(WAITER)).as("descriptors").isOne();
        ALock another = other.lock(1);
        assertThat(another.tryLock(1, TimeUnit.MINUTES)).isTrue();
        another.unlock();
        held.unlock();
        assertThat(lock.tryLock(1, TimeUnit.MINUTES)).isTrue();
        assertThat(descriptorsOf(WAITER)).as("descriptors").isOne();
        lock.unlock();
        session.close();
        other.close();
        holder.close();
    }

    @Test
    void shouldTakeOneDescriptorHoweverOftenALocalThreadGivesUp() throws Exception {
        comeBackOften(local(HOLDER), local(WAITER), local(OTHER));
    }

    @Test
    void shouldTakeOneDescriptorHoweverOftenARemoteThreadGivesUp() throws Exception {
        comeBackOften(remote(HOLDER), remote(WAITER), remote(OTHER));
    }

    @Test
    void shouldTakeOneDescriptorHoweverOftenAThreadWithABellGivesUp() throws Exception {
        try (LockHome waiters = new LockHome(Arena.ofAuto().allocate(64, 64))) {
            LockBell bell = new LockBell(1, waiters.region(), 8);
            comeBackOften(
                    remote(HOLDER),
                    LockTable.remoteSession(home.newLink().withBell(bell, LockPeers.create()), WAITER),
                    remote(OTHER));
        }
    }

    @Test
    void shouldGiveBackWhatOtherLocksTookOnceTheyAreFree() throws Exception {
        for (boolean local : new boolean[] {true, false}) {
            LockSession holder = session(local, HOLDER);
            LockSession session = session(local, WAITER);
            // A place at each of three locks, of seven descriptors.
            List<ALock> held = new ArrayList<>();
            for (int i = 1; i <= 3; i++) {
                held.add(holder.lock(i));
                held.getLast().lock();
                assertThat(session.lock(i).tryLock(1, TimeUnit.MICROSECONDS)).isFalse();
            }
            assertThat(descriptorsOf(WAITER)).isEqualTo(3);
            held.forEach(ALock::unlock);
            ALock lock = session.lock(0);
            // By RDMA, the writes that free them may still be in flight.
            Await.until("two descriptors", () -> {
                lock.lock();
                lock.unlock();
                return descriptorsOf(WAITER) == 2;
            });
            session.close();
            holder.close();
        }
    }

    @Test
    void shouldSayThatALockIsNotFreeWithoutADescriptorForThat() throws Exception {
        for (boolean local : new boolean[] {true, false}) {
            LockSession holder = session(local, HOLDER);
            LockSession session = session(local, WAITER);
            LockSession other = session(local, OTHER);
            ALock held = locked(holder, 0);
            ALock lock = session.lock(0);
            assertThat(lock.tryLock(1, TimeUnit.MICROSECONDS)).isFalse();
            // All remaining descriptors of the cohort.
            List<ALock> others = IntStream.range(1, LOCKS).mapToObj(other::lock).toList();
            others.forEach(ALock::lock);
            assertThat(descriptorsOf(0)).as("of the other cohort").isEqualTo(DESCRIPTORS);
            assertThat(lock.tryLock()).isFalse();
            assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isFalse();
            assertThrown(IllegalStateException.class, lock::lock, "still in a queue");
            held.unlock();
            assertThat(lock.tryLock(1, TimeUnit.MINUTES))
                    .as("with the former place's descriptor")
                    .isTrue();
            lock.unlock();
            others.forEach(ALock::unlock);
            List.of(holder, session, other).forEach(LockSession::close);
        }
    }

    @Test
    void shouldEnterAnewOnceItsFormerPlaceIsGone() throws Exception {
        for (boolean local : new boolean[] {true, false}) {
            LockSession holder = session(local, HOLDER);
            LockSession session = session(local, WAITER);
            ALock held = locked(holder, 0);
            long mine = tail(local);
            ALock lock = session.lock(0);
            Future<Boolean> taken = waiter.submit(() -> {
                boolean had = lock.tryLock(1, TimeUnit.MICROSECONDS);
                return had || lock.tryLock(1, TimeUnit.MINUTES);
            });
            Await.until("a place behind this one", () -> tail(local) != mine);
            held.unlock();
            assertThat(taken.get(1, TimeUnit.MINUTES)).isTrue();
            assertThat(held.tryLock()).isFalse();
            waiter.submit(lock::unlock).get();
            assertThat(held.tryLock(1, TimeUnit.MINUTES)).isTrue();
            held.unlock();
        }
    }

    @Test
    void shouldEnterAtOnceWithoutATimeLimit() throws Exception {
        ALock held = locked(local(HOLDER), 0);
        ALock lock = local(WAITER).lock(0);
        assertThat((boolean) waiter.submit(() -> lock.tryLock(1, TimeUnit.MICROSECONDS))
                        .get())
                .isFalse();
        long former = tail(true);
        Future<?> waiting = waiter.submit(lock::lock);
        Await.until("its new place", () -> tail(true) != former);
        held.unlock();
        waiting.get(1, TimeUnit.MINUTES);
        waiter.submit(lock::unlock).get();
    }

    @Test
    void shouldBeInterruptedWhileItsFormerPlaceIsThere() throws Exception {
        ALock held = locked(local(HOLDER), 0);
        ALock lock = local(WAITER).lock(0);
        CountDownLatch gaveUp = new CountDownLatch(1);
        Future<?> waiting = waiter.submit(() -> {
            assertThat(lock.tryLock(1, TimeUnit.MICROSECONDS)).isFalse();
            gaveUp.countDown();
            assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
            return true;
        });
        gaveUp.await();
        waiterThread.interrupt();
        waiting.get(1, TimeUnit.MINUTES);
        held.unlock();
        assertThat(held.tryLock()).isTrue();
        held.unlock();
    }
}
