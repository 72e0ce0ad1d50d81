package dev.rackcall.lock;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.types.SharedBytes;
import dev.rackcall.verbs.soft.FaultPlan;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Threads that lose their connection or memory, or are interrupted, while they hold a lock or wait for it. */
@SuppressWarnings("LockNotBeforeTry")
class LockLossTest extends LockFixture {
    private static final int DESCRIPTORS = 8;
    private static final int NODE = 3;
    private static final long HOLDER = 1;
    private static final long WAITER = 2;
    private static final long KEEPER = 1000;

    LockLossTest() {
        super(DESCRIPTORS, 1, true);
    }

    /** A session belongs to the thread that used it first, so one thread does all work here. */
    private final ExecutorService waiter = Executors.newSingleThreadExecutor(work -> {
        Thread thread = new Thread(work, "waiter");
        waiterThread = thread;
        return thread;
    });

    private Thread waiterThread;

    @AfterEach
    void close() {
        waiter.close();
    }

    private LockSession remoteWithBell(RemoteTable link) {
        return LockTable.remoteSession(
                link.withBell(new LockBell(NODE, waiters.region(), 8), LockPeers.create()), WAITER);
    }

    private <T> T get(Callable<T> work) throws Exception {
        return get(waiter.submit(work));
    }

    /** Work of the waiter without a result. */
    private void run(Runnable work) throws Exception {
        get(waiter.submit(work));
    }

    @Test
    void shouldSayThatTheConnectionIsLostWhileItWaitsForItsBell() throws Exception {
        ALock held = locked(remote(HOLDER), 0);
        long first = last(0);
        RemoteTable link = home.newLink();
        LockSession session = remoteWithBell(link);
        ALock lock = session.lock(0);
        Future<?> waiting = waiter.submit(lock::lock);
        awaitFollower(first);
        link.queuePair().toError();
        assertThatThrownBy(() -> get(waiting)).hasCauseInstanceOf(LockConnectionException.class);
        assertThatThrownBy(() -> get(lock::tryLock))
                .hasCauseInstanceOf(LockConnectionException.class)
                .hasMessageContaining("lost");
        run(session::close);
        // The waiter counts as dead: the holder finds it gone, and the lock is free afterwards.
        LockKeeper keeper = keeper(KEEPER);
        keeper.recover(owner -> owner == WAITER);
        held.unlock();
        // The holder's write that skips the waiter may still be in flight.
        await(() -> keeper.recover(owner -> owner == WAITER) == 0);
        assertThat(held.tryLock()).isTrue();
        held.unlock();
    }

    @Test
    void shouldSayThatTheConnectionIsLostWhenItUnlocks() throws InterruptedException {
        RemoteTable link = home.newLink();
        LockSession session = LockTable.remoteSession(link, HOLDER);
        ALock held = locked(session, 0);
        link.queuePair().toError();
        assertThrown(LockConnectionException.class, held::unlock, "cannot be reached");
        assertThat(held.isHeld()).isFalse();
        assertThatThrownBy(held::lock)
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining("lost")
                .hasCauseInstanceOf(LockConnectionException.class);
        session.close();
        ALock next = table.localSession(WAITER).lock(0);
        assertThat(next.tryLock(1, TimeUnit.MILLISECONDS))
                .as("it is still held")
                .isFalse();
        assertThat(keeper(KEEPER).recover(owner -> owner == HOLDER)).isZero();
        assertThat(next.tryLock()).isTrue();
    }

    /** As users write it: the exception in `finally` must not hide the first one. */
    @Test
    void shouldSayThatTheConnectionIsLostThroughTheUnlockOfAFinallyBlock() {
        RemoteTable link = home.newLink();
        LockSession session = LockTable.remoteSession(link, HOLDER);
        ALock held = session.lock(0);
        assertThatThrownBy(() -> {
                    held.lock();
                    try {
                        link.queuePair().toError();
                        held.token();
                    } finally {
                        held.unlock();
                    }
                })
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining("lost")
                .cause()
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining("cannot be reached");
        session.close();
    }

    /**
     * An unlock was sent, and its answer will not come. The next call reports it, whether or not the finisher has seen
     * it.
     */
    @Test
    void shouldSayAtTheNextCallThatTheConnectionWasLostWhileAnUnlockWasOpen() throws InterruptedException {
        assumeFalse(LockDevice.isReal(), "a real device does not stop in an atomic");
        for (boolean known : new boolean[] {true, false}) {
            FaultPlan faults = FaultPlan.none();
            MemorySegment its = Arena.ofAuto().allocate(LockTable.bytes(DESCRIPTORS, 1), 64);
            LockTable other = LockTable.create(its, DESCRIPTORS, 1);
            Semaphore stop = new Semaphore(0);
            try (LockFinisher finisher = LockFinisher.start();
                    LockHome host = new LockHome(its, faults)) {
                RemoteTable link = host.newLink();
                LockHome.Accepted end = host.last();
                LockSession session = LockTable.remoteSession(link.withFinisher(finisher), HOLDER);
                ALock held = locked(session, 0);
                faults.insideAtomics(stop::acquireUninterruptibly);
                held.unlock();
                link.queuePair().toError();
                if (known) {
                    await(session::isLost);
                }
                assertThrown(LockConnectionException.class, held::lock, "cannot be reached");
                assertThat(held.isHeld()).isFalse();
                assertThrown(LockConnectionException.class, held::lock, "lost");
                session.close();
                faults.insideAtomics(() -> {});
                stop.release(100);
                end.cut();
                // Whether or not its unlock has arrived, the keeper removes what is left of it.
                try (LockKeeper keeper = other.keeper(host.newLoopback(), KEEPER, owner -> false)) {
                    await(() -> keeper.recover(owner -> owner == HOLDER) == 0);
                    ALock next = other.localSession(WAITER).lock(0);
                    assertThat(next.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
                }
            }
        }
    }

    @Test
    void shouldHandOverWhatTheDeadHasLeftOpen() throws Exception {
        RemoteTable link = home.newLink();
        LockHome.Accepted end = home.last();
        // Its thread never runs, as if it had died, too.
        LockFinisher finisher = new LockFinisher(new LockWait(true));
        LockSession session = LockTable.remoteSession(link.withFinisher(finisher), HOLDER);
        ALock held = locked(session, 0);
        long first = last(0);
        ALock next = remote(WAITER).lock(0);
        Future<?> waiting = waiter.submit(next::lock);
        awaitFollower(first);
        held.unlock();
        end.cut();
        assertThat(waiting.isDone()).as("the lock was handed over").isFalse();
        assertThat(keeper(KEEPER).recover(owner -> owner == HOLDER)).isZero();
        get(waiting);
        run(next::unlock);
    }

    @Test
    void shouldSayThatTheConnectionIsLostWhileItWaitsForReaders() throws Exception {
        Lock reader = table.localSession(HOLDER).readLock(0);
        reader.lock();
        RemoteTable link = home.newLink();
        ALock lock = remoteWithBell(link).lock(0);
        Future<?> waiting = waiter.submit(lock::lock);
        await(() -> last(0) != 0);
        link.queuePair().toError();
        assertThatThrownBy(() -> get(waiting)).hasCauseInstanceOf(LockConnectionException.class);
        reader.unlock();
        assertThat(keeper(KEEPER).recover(owner -> owner == WAITER)).isZero();
        assertThat(reader.tryLock()).isTrue();
    }

    @Test
    void shouldSayThatTheTableIsNoLongerReachableWhereItsMemoryIsWithdrawn() {
        MemorySegment other = Arena.ofAuto().allocate(LockTable.bytes(1, 1), 64);
        LockTable.create(other, 1, 1);
        try (LockHome gone = new LockHome(other)) {
            ALock lock = LockTable.remoteSession(gone.newLink(), HOLDER).lock(0);
            lock.lock();
            lock.unlock();
            gone.region().close();
            assertThrown(LockConnectionException.class, lock::lock, "cannot be reached");
        }
    }

    @Test
    void shouldRefuseTheLocksOfAnArenaThatIsClosed() {
        Pool pool = Pool.memfd("locks", 1 << 20);
        long bytes = LockTable.bytes(1, 1);
        MemorySegment object = SharedBytes.copyOf(pool.arena().newScope(), new byte[(int) bytes + 64])
                .segment();
        MemorySegment lines = object.asSlice(-object.address() & 63, bytes);
        LockSession session = LockTable.create(lines, 1, 1).localSession(HOLDER);
        ALock held = locked(session, 0);
        pool.close();
        assertThatThrownBy(held::unlock).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> LockTable.attach(lines)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldRefuseToUnlockByRdmaWhatIsNotHeld() throws Exception {
        LockSession session = remote(HOLDER);
        ALock lock = session.lock(0);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        lock.lock();
        assertThatThrownBy(lock::lock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(session.lock(0)::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(() -> run(lock::unlock)).hasCauseInstanceOf(IllegalMonitorStateException.class);
        lock.unlock();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        session.close();
        assertThrown(IllegalStateException.class, lock::tryLock, "closed");
    }

    private static boolean isInterrupted(Callable<?> wait) throws Exception {
        try {
            wait.call();
            return false;
        } catch (InterruptedException e) {
            return true;
        }
    }

    @Test
    void shouldLeaveTheQueueWhenItIsInterruptedWhileItWaitsForItsBell() throws Exception {
        ALock held = locked(remote(HOLDER), 0);
        long first = last(0);
        LockSession session = remoteWithBell(home.newLink());
        ALock lock = session.lock(0);
        Future<Boolean> interrupted = waiter.submit(() -> isInterrupted(() -> lock.tryLock(1, TimeUnit.DAYS)));
        awaitFollower(first);
        waiterThread.interrupt();
        assertThat(get(interrupted)).isTrue();
        held.unlock();
        assertThat((boolean) get(lock::tryLock)).as("he was skipped").isTrue();
        run(lock::unlock);
        run(session::close);
        assertThat(held.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        held.unlock();
    }

    @Test
    void shouldHandTheLockOnWhenItIsInterruptedWhileItWaitsForReaders() throws Exception {
        for (boolean local : new boolean[] {true, false}) {
            LockSession readers = table.localSession(HOLDER);
            Lock reader = readers.readLock(0);
            reader.lock();
            LockSession session = local ? table.localSession(WAITER) : remoteWithBell(home.newLink());
            ALock lock = session.lock(0);
            Future<Boolean> interrupted = waiter.submit(() -> isInterrupted(() -> {
                lock.lockInterruptibly();
                return true;
            }));
            long tail = LockLayout.lock(DESCRIPTORS, 0) + (local ? LockLayout.LOCAL_TAIL : LockLayout.REMOTE_TAIL);
            await(() -> words.load(tail) != 0);
            waiterThread.interrupt();
            assertThat(get(interrupted)).isTrue();
            Lock another = table.localSession(KEEPER).readLock(0);
            assertThat(another.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
            another.unlock();
            reader.unlock();
            assertThat(get(() -> lock.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS)))
                    .isTrue();
            run(lock::unlock);
            run(session::close);
            readers.close();
        }
    }

    @Test
    void shouldLetAReaderGoThatIsInterruptedWhileItWaits() throws Exception {
        ALock held = locked(remote(HOLDER), 0);
        long first = last(0);
        LockSession session = remoteWithBell(home.newLink());
        ALockReader reader = session.readLock(0);
        Future<Boolean> interrupted = waiter.submit(() -> isInterrupted(() -> {
            reader.lockInterruptibly();
            return true;
        }));
        awaitFollower(first);
        waiterThread.interrupt();
        assertThat(get(interrupted)).isTrue();
        assertThat(reader.isHeld()).isFalse();
        held.unlock();
        assertThat((boolean) get(reader::tryLock)).isTrue();
        assertThat(held.tryLock()).as("it is read").isFalse();
        run(reader::unlock);
        run(session::close);
    }
}
