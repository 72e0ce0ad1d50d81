package dev.rackcall.lock;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.testkit.Await;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Waits without a limit that end all the same: the thread must not continue as if it held the lock. */
@SuppressWarnings("LockNotBeforeTry")
class EndedWaitTest {
    private static final int DESCRIPTORS = 8;
    private static final long LINE = LockLayout.lock(DESCRIPTORS, 0);
    private static final long HOLDER = 1;
    private static final long WAITER = 2;
    private static final long KEEPER = 1000;

    private final MemorySegment memory = Arena.ofAuto().allocate(LockTable.bytes(DESCRIPTORS, 1), 64);
    private final LockTable table = LockTable.createWithReaders(memory, DESCRIPTORS, 1);
    /** Without readers, a thread that comes back to its last lock takes the fast path. */
    private final MemorySegment plainMemory = Arena.ofAuto().allocate(LockTable.bytes(DESCRIPTORS, 1), 64);

    private final LockTable plain = LockTable.create(plainMemory, DESCRIPTORS, 1);
    private final ExecutorService waiter = Executors.newSingleThreadExecutor();

    @AfterEach
    void close() {
        waiter.close();
    }

    /** One form of waiting. */
    private interface Taking {
        void take(Lock lock) throws InterruptedException;
    }

    private static long tail(MemorySegment memory) {
        return new ProcessorWords(memory).load(LINE + LockLayout.LOCAL_TAIL);
    }

    /** The keeper is told that a live waiter is dead. */
    private void shouldBeTold(LockTable table, MemorySegment memory, LockSession session, Lock lock, Taking taking)
            throws Exception {
        try (LockHome home = new LockHome(memory);
                LockKeeper keeper = table.keeper(home.newLoopback(), KEEPER, owner -> false);
                LockSession holding = table.localSession(HOLDER)) {
            ALock held = holding.lock(0);
            held.lock();
            long before = tail(memory);
            Future<?> waiting = waiter.submit(() -> {
                taking.take(lock);
                return null;
            });
            Await.until("a waiter behind the holder", () -> tail(memory) != before);
            Await.until("the keeper to remove it", () -> {
                keeper.recover(owner -> owner == WAITER);
                return waiting.isDone();
            });
            assertThatThrownBy(waiting::get)
                    .hasCauseInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll(
                            "lock 0 (by memory)", "is not held", "of owner " + WAITER + " was removed from the queue");
            assertThatThrownBy(waiter.submit(() -> lock.tryLock())::get)
                    .hasCauseInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("lost its table");
            waiter.submit(session::close).get();
            held.unlock();
            assertThat(held.tryLock()).as("the holder's queue is whole").isTrue();
            held.unlock();
            assertThat(keeper.recover(owner -> owner == WAITER)).isZero();
            assertThat(tail(memory)).isZero();
        }
    }

    @Test
    void shouldTellAWaiterThatIsTakenForDead() throws Exception {
        for (Taking taking : new Taking[] {
            Lock::lock, Lock::lockInterruptibly, lock -> lock.tryLock(1, TimeUnit.DAYS),
        }) {
            LockSession session = table.localSession(WAITER);
            shouldBeTold(table, memory, session, session.lock(0), taking);
        }
        LockSession session = table.localSession(WAITER);
        shouldBeTold(table, memory, session, session.readLock(0), Lock::lock);
    }

    @Test
    void shouldTellAWaiterOnTheFastPathToo() throws Exception {
        LockSession session = plain.localSession(WAITER);
        ALock lock = session.lock(0);
        waiter.submit(() -> {
                    lock.lock();
                    lock.unlock();
                })
                .get();
        shouldBeTold(plain, plainMemory, session, lock, Lock::lock);
    }

    /** The predecessor's grant is for another generation: the descriptor was freed, and another thread uses it. */
    @Test
    void shouldNotTakeForItsOwnWhatAnotherIsGranted() throws Exception {
        LockSession session = plain.localSession(WAITER);
        ALock lock = session.lock(0);
        ALock held = plain.localSession(HOLDER).lock(0);
        held.lock();
        long mine = tail(plainMemory);
        Future<?> waiting = waiter.submit(() -> lock.lock());
        LockWords words = new ProcessorWords(plainMemory);
        Await.until(
                "a waiter linked behind the holder",
                () -> words.load(LockLayout.descriptorOf(mine) + LockLayout.NEXT) != 0);
        long his = tail(plainMemory);
        words.store(
                LockLayout.descriptorOf(his) + LockLayout.STATE,
                LockLayout.state(LockLayout.generation(his) + 1, 3, LockLayout.HEAD));
        assertThatThrownBy(waiting::get)
                .hasCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("was removed from the queue");
        assertThat(lock.isHeld()).isFalse();
    }

    /** Simulates a mistake in the wait itself, which reports its end too early. */
    private static final class HastyWaiting extends LockWait {
        HastyWaiting() {
            super(false);
        }

        @Override
        boolean pause() {
            return false;
        }
    }

    private void shouldNotLetIn(ALock lock, MemorySegment memory, LockSession holding) {
        ALock held = holding.lock(0);
        held.lock();
        assertThrown(IllegalStateException.class, lock::lock, "lock 0 (by memory)", "it is not held");
        assertThat(lock.isHeld()).isFalse();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        held.unlock();
        assertThat(tail(memory)).isZero();
        lock.lock();
        assertThat(lock.isHeld()).isTrue();
        lock.unlock();
    }

    @Test
    void shouldNotReturnWithoutTheLockWhateverEndsTheWait() {
        try (LockSession session = LockTable.session(
                        new ProcessorWords(memory), new HastyWaiting(), WAITER, LockTable.LOCAL_BUDGET, table.sizes());
                LockSession holding = table.localSession(HOLDER)) {
            shouldNotLetIn(session.lock(0), memory, holding);
        }
        try (LockSession session = LockTable.session(
                        new ProcessorWords(plainMemory),
                        new HastyWaiting(),
                        WAITER,
                        LockTable.LOCAL_BUDGET,
                        plain.sizes());
                LockSession holding = plain.localSession(HOLDER)) {
            ALock lock = session.lock(0);
            lock.lock();
            lock.unlock();
            // On the fast path.
            shouldNotLetIn(lock, plainMemory, holding);
        }
    }
}
