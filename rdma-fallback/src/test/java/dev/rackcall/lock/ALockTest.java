package dev.rackcall.lock;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.soft.FaultPlan;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Both kinds of threads at once, over the software device, and misuse. */
@SuppressWarnings("LockNotBeforeTry")
class ALockTest extends LockFixture {
    private static final int DESCRIPTORS = 40;
    private static final int LOCKS = 4;
    private static final int COUNTS = 200;
    private static final long ME = 1;

    private final LockFinisher finisher = LockFinisher.start();
    private int counter;

    ALockTest() {
        super(DESCRIPTORS, LOCKS, false);
    }

    @AfterEach
    void close() {
        threads.close();
        finisher.close();
    }

    private LockSession local() {
        return local(ME);
    }

    private LockSession remote() {
        return remote(ME);
    }

    /** Does not wait for its unlocks. */
    private LockSession finished() {
        return LockTable.remoteSession(home.newLink().withFinisher(finisher), ME);
    }

    /** What a thread does with a lock in each round. Returns how often it held the lock. */
    private interface Work {
        int with(ALock lock, Random random) throws InterruptedException;
    }

    private int count() {
        int seen = counter;
        Thread.onSpinWait();
        counter = seen + 1;
        return 1;
    }

    /** Two local and two remote threads; returns how often they held the lock in all. */
    private int together(Work work) throws Exception {
        return together(this::remote, work);
    }

    private int together(Supplier<LockSession> remote, Work work) throws Exception {
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            LockSession session = i < 2 ? local() : remote.get();
            int seed = i;
            Callable<Integer> task = () -> {
                Random random = new Random(seed);
                int had = 0;
                ALock lock = session.lock(0);
                for (int round = 0; round < COUNTS; round++) {
                    had += work.with(lock, random);
                }
                session.close();
                return had;
            };
            results.add(threads.submit(task));
        }
        return sum(results);
    }

    private int locked(ALock lock) {
        lock.lock();
        try {
            return count();
        } finally {
            lock.unlock();
        }
    }

    @Test
    void shouldExcludeLocalAndRemoteThreads() throws Exception {
        int had = together((lock, random) -> locked(lock));
        assertThat(had).isEqualTo(4 * COUNTS);
        assertThat(counter).isEqualTo(had);
    }

    private int lockedPerhaps(ALock lock, Random random) throws InterruptedException {
        if (random.nextBoolean()) {
            return locked(lock);
        }
        if (!lock.tryLock(random.nextInt(200), TimeUnit.MICROSECONDS)) {
            return 0;
        }
        try {
            return count();
        } finally {
            lock.unlock();
        }
    }

    @Test
    void shouldKeepItsQueueWhenWaitersGiveUp() throws Exception {
        int had = together(this::lockedPerhaps);
        assertThat(counter).isEqualTo(had);
        assertThat(local().lock(0).tryLock()).as("the lock is free in the end").isTrue();
    }

    @Test
    void shouldExcludeThreadsThatDoNotWaitForTheirUnlocks() throws Exception {
        int had = together(this::finished, (lock, random) -> {
            int once = lockedPerhaps(lock, random);
            if (random.nextInt(8) == 0) {
                // Longer than the finisher sleeps.
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(3));
            }
            return once;
        });
        assertThat(counter).isEqualTo(had);
        assertThat(local().lock(0).tryLock()).as("the lock is free in the end").isTrue();
    }

    /** Whether no thread has a descriptor. */
    private boolean isUnused() {
        LockWords words = new ProcessorWords(memory);
        return IntStream.rangeClosed(1, 2 * DESCRIPTORS)
                .mapToLong(LockLayout::descriptor)
                .allMatch(at -> words.load(at + LockLayout.OWNER) == 0
                        && LockLayout.kind(words.load(at + LockLayout.STATE)) == LockLayout.FREE);
    }

    @Test
    void shouldTakeTheSameLockAgainAndCloseWhileItsUnlockIsOpen() {
        try (LockSession session = finished()) {
            ALock first = session.lock(0);
            ALock second = session.lock(1);
            for (int i = 0; i < COUNTS; i++) {
                first.lock();
                assertThatThrownBy(session.lock(0)::lock).isInstanceOf(IllegalMonitorStateException.class);
                if (i % 2 == 0) {
                    second.lock();
                    second.unlock();
                }
                assertThat(first.token()).isEqualTo(i + 1);
                first.unlock();
                assertThatThrownBy(first::unlock).isInstanceOf(IllegalMonitorStateException.class);
                assertThat(i % 3 != 0 || first.tryLock())
                        .as("its unlock is before this")
                        .isTrue();
                if (first.isHeld()) {
                    first.unlock();
                }
            }
        }
        // The session's last write may be in flight.
        Await.until("all descriptors are free", this::isUnused);
    }

    @Test
    void shouldWaitForItsUnlocksWithoutASecondDescriptorOrAFinisher() throws Exception {
        MemorySegment small = Arena.ofAuto().allocate(LockTable.bytes(1, 1), 64);
        LockTable.create(small, 1, 1);
        try (LockHome its = new LockHome(small);
                LockSession session = LockTable.remoteSession(its.newLink().withFinisher(finisher), ME)) {
            LockWords words = new ProcessorWords(small);
            ALock lock = session.lock(0);
            for (int i = 0; i < 3; i++) {
                lock.lock();
                lock.unlock();
                assertThat(words.load(LockLayout.lock(1, 0) + LockLayout.REMOTE_TAIL))
                        .as("tail")
                        .isZero();
            }
        }
        LockSession session = finished();
        ALock lock = session.lock(0);
        lock.lock();
        finisher.close();
        lock.unlock();
        assertThat(local().lock(0).tryLock()).as("no unlock is left to finish").isTrue();
        session.close();
    }

    @Test
    void shouldHoldSeveralLocksAtATime() {
        for (LockSession session : List.of(local(), remote())) {
            ALock first = session.lock(0);
            ALock second = session.lock(1);
            first.lock();
            second.lock();
            first.unlock();
            assertThat(first.isHeld()).isFalse();
            assertThat(second.isHeld()).isTrue();
            assertThat(local().lock(1).tryLock()).isFalse();
            assertThat(remote().lock(1).tryLock()).isFalse();
            second.unlock();
            assertThat(second.tryLock()).isTrue();
            second.unlock();
            session.close();
        }
    }

    /**
     * The fast path needs a thread that held this very lock last, in this session, and holds no other. Each part comes
     * back to it after something else.
     */
    @Test
    void shouldKnowWhatElseItsSessionDoes() throws Exception {
        try (LockSession session = local()) {
            ALock first = session.lock(0);
            ALock same = session.lock(0);
            ALock second = session.lock(1);
            for (int round = 0; round < 5; round++) {
                held(first);
                held(same);
                held(second);
                // Two at a time, so one of them uses another descriptor.
                second.lock();
                held(first);
                second.unlock();
                first.lock();
                assertThatThrownBy(same::lock).isInstanceOf(IllegalMonitorStateException.class);
                assertThat(isFreeToOthers(0)).isFalse();
                first.unlock();
                assertThatThrownBy(first::unlock).isInstanceOf(IllegalMonitorStateException.class);
                assertThat(isFreeToOthers(0)).isTrue();
                assertThatThrownBy(() -> threads.submit(first::lock).get())
                        .hasCauseInstanceOf(IllegalMonitorStateException.class);
            }
            long before = first.tryLock() ? first.token() : -1;
            first.unlock();
            first.lock();
            assertThat(first.token()).isEqualTo(before + 1);
            first.unlock();
            session.close();
            assertThrown(IllegalStateException.class, first::lock, "closed");
        }
    }

    private static void held(ALock lock) {
        lock.lock();
        assertThat(lock.isHeld()).isTrue();
        lock.unlock();
        assertThat(lock.isHeld()).isFalse();
    }

    private boolean isFreeToOthers(int index) throws Exception {
        return threads.submit(() -> {
                    try (LockSession other = local()) {
                        ALock lock = other.lock(index);
                        boolean free = lock.tryLock();
                        if (free) {
                            lock.unlock();
                        }
                        return free;
                    }
                })
                .get();
    }

    /** A thread waits behind a holder on the fast path and is handed the lock, and the other way round. */
    @Test
    void shouldHandOverFromAndToTheQuickestWay() throws Exception {
        try (LockSession session = local()) {
            ALock lock = session.lock(0);
            for (int round = 0; round < 20; round++) {
                held(lock);
                lock.lock();
                long mine = tail();
                CountDownLatch left = new CountDownLatch(1);
                Future<?> follower = threads.submit(() -> {
                    try (LockSession his = local()) {
                        ALock same = his.lock(0);
                        held(same);
                        // Queues behind the other thread once more, and holds the lock until that waits.
                        same.lock();
                        long own = tail();
                        left.countDown();
                        Await.until("a waiter behind this one", () -> tail() != own);
                        same.unlock();
                    }
                });
                Await.until("a waiter behind this one", () -> tail() != mine);
                lock.unlock();
                left.await();
                held(lock);
                follower.get();
            }
        }
    }

    /** The last in the queue of local threads. */
    private long tail() {
        return new ProcessorWords(memory).load(LockLayout.lock(DESCRIPTORS, 0) + LockLayout.LOCAL_TAIL);
    }

    @Test
    void shouldGiveUpInTime() throws InterruptedException {
        ALock held = locked(local(), 0);
        assertThat(local().lock(0).tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(remote().lock(0).tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(local().lock(0).tryLock(Long.MIN_VALUE, TimeUnit.NANOSECONDS))
                .isFalse();
        held.unlock();
        ALock next = remote().lock(0);
        assertThat(next.tryLock(0, TimeUnit.SECONDS)).isTrue();
        assertThat(local().lock(0).tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
        next.unlock();
    }

    @Test
    void shouldGiveUpWhenInterrupted() throws Exception {
        ALock held = locked(local(), 0);
        for (LockSession session : List.of(local(), remote())) {
            CountDownLatch ready = new CountDownLatch(1);
            CountDownLatch gaveUp = new CountDownLatch(1);
            Future<?> waiting = threads.submit(() -> {
                ALock lock = session.lock(0);
                ready.countDown();
                assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
                gaveUp.countDown();
            });
            Await.latch(ready);
            waiting.cancel(true);
            Await.latch(gaveUp);
        }
        held.unlock();
        assertThat(held.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        held.unlock();
    }

    @Test
    void shouldKeepAnInterruptForTheCallerOfLock() throws Exception {
        ALock held = locked(local(), 0);
        CountDownLatch ready = new CountDownLatch(1);
        Thread[] waiter = new Thread[1];
        Future<Boolean> interrupted = threads.submit(() -> {
            waiter[0] = Thread.currentThread();
            ALock lock = local().lock(0);
            ready.countDown();
            lock.lock();
            lock.unlock();
            return Thread.interrupted();
        });
        Await.latch(ready);
        waiter[0].interrupt();
        assertThat(interrupted.isDone()).isFalse();
        held.unlock();
        assertThat(get(interrupted)).isTrue();
    }

    /** A thread enters just as the lock is handed over, and links itself late. */
    @Test
    void shouldKeepAnInterruptForTheCallerOfUnlock() throws Exception {
        LockWords words = new ProcessorWords(memory);
        for (boolean bounded : new boolean[] {false, true}) {
            ALock lock = local().lock(bounded ? 1 : 0);
            assertThat(lock.tryLock(1, TimeUnit.MINUTES)).isTrue();
            if (!bounded) {
                lock.unlock();
                lock.lock();
            }
            long line = LockLayout.lock(DESCRIPTORS, bounded ? 1 : 0);
            long link = LockLayout.descriptorOf(words.load(line + LockLayout.LOCAL_TAIL)) + LockLayout.NEXT;
            long follower = LockLayout.reference(0, DESCRIPTORS - (bounded ? 1 : 0));
            words.store(
                    LockLayout.descriptorOf(follower) + LockLayout.STATE, LockLayout.state(0, 0, LockLayout.WAITING));
            words.store(line + LockLayout.LOCAL_TAIL, follower);
            Thread unlocking = Thread.currentThread();
            Future<?> linking = threads.submit(() -> {
                // Once the wait for the link has seen the interrupt, and cleared it in order to sleep.
                Await.until("a wait that keeps the interrupt", () -> !unlocking.isInterrupted());
                words.store(link, follower);
            });
            Thread.currentThread().interrupt();
            lock.unlock();
            assertThat(Thread.interrupted()).isTrue();
            linking.get();
        }
    }

    @Test
    void shouldBeClosedByAnotherThreadOnceItsOwnHasEnded() throws Exception {
        LockSession session = local();
        Thread user = new Thread(() -> held(session.lock(0)));
        user.start();
        user.join();
        session.close();
        assertThat(isUnused()).isTrue();
    }

    @Test
    void shouldGiveGrowingTokens() {
        long last = 0;
        for (int i = 0; i < 6; i++) {
            ALock lock = (i % 2 == 0 ? local() : remote()).lock(2);
            lock.lock();
            long token = lock.token();
            assertThat(token).isGreaterThan(last).isEqualTo(lock.token());
            last = token;
            lock.unlock();
            assertThatThrownBy(lock::token).isInstanceOf(IllegalMonitorStateException.class);
        }
    }

    @Test
    void shouldRefuseToUnlockWhatIsNotHeld() throws Exception {
        LockSession session = local();
        ALock lock = session.lock(0);
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        lock.lock();
        assertThatThrownBy(lock::lock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(session.lock(0)::tryLock).isInstanceOf(IllegalMonitorStateException.class);
        Future<?> unlocked = threads.submit(lock::unlock);
        assertThatThrownBy(unlocked::get).hasCauseInstanceOf(IllegalMonitorStateException.class);
        assertThrown(IllegalStateException.class, session::close, "unlock it");
        lock.unlock();
        session.close();
        assertThatThrownBy(lock::lock).isInstanceOf(IllegalStateException.class).hasMessageContaining("closed");
        assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void shouldRefuseLocksAndTablesOutsideTheirMemory() {
        assertThatThrownBy(() -> local().lock(LOCKS)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> local().lock(-1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> table.localSession(0)).isInstanceOf(IllegalArgumentException.class);
        MemorySegment fresh = Arena.ofAuto().allocate(LockTable.bytes(2, 2), 64);
        assertThatThrownBy(() -> LockTable.create(fresh, 2, 3)).hasMessageContaining("bytes of native memory");
        assertThatThrownBy(() -> LockTable.create(fresh.asSlice(8), 1, 1)).hasMessageContaining("aligned");
        assertThatThrownBy(() -> LockTable.create(memory, 1, 1)).hasMessageContaining("must be zero");
        assertThatThrownBy(() -> LockTable.attach(memory.asSlice(0, 128))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> LockTable.attach(memory.asSlice(64))).hasMessageContaining("no lock table");
        assertThat(LockTable.attach(memory).locks()).isEqualTo(LOCKS);
        RemoteTable link = home.newLink();
        RemoteTable beside =
                new RemoteTable(link.queuePair(), link.completions(), link.scratch(), link.address() + 64, link.key());
        assertThatThrownBy(() -> LockTable.remoteSession(beside, ME)).hasMessageContaining("no lock table");
        assertThatThrownBy(() -> new RemoteTable(
                        link.queuePair(), link.completions(), link.scratch(), link.address() + 8, link.key()))
                .hasMessageContaining("multiple of 64");
    }

    @Test
    void shouldRefuseMemoryThatIsFreed() {
        LockSession session;
        try (Arena arena = Arena.ofConfined()) {
            session = LockTable.create(arena.allocate(LockTable.bytes(1, 1), 64), 1, 1)
                    .localSession(ME);
        }
        assertThatThrownBy(() -> session.lock(0).lock()).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldNotUseADescriptorThatIsStillQueued() throws Exception {
        ALock held = locked(local(), 0);
        LockSession session = local();
        ALock lock = session.lock(0);
        for (int i = 0; i < 2 * DESCRIPTORS; i++) {
            assertThat(lock.tryLock(1, TimeUnit.MICROSECONDS)).isFalse();
            // With another descriptor, or with none.
            ALock another = session.lock(1);
            assertThat(another.tryLock(1, TimeUnit.MINUTES)).isTrue();
            another.unlock();
            assertThat(lock.tryLock()).isFalse();
        }
        assertThat(lock.isHeld()).isFalse();
        held.unlock();
        assertThat(held.tryLock()).as("waiters that gave up were skipped").isTrue();
        held.unlock();
        session.close();
        assertThat(local().lock(0).tryLock()).isTrue();
    }

    @Test
    void shouldSayThatTheConnectionIsLostWhileWaiting() throws Exception {
        ALock holder = locked(local(), 0);
        LockSession session = LockTable.remoteSession(home.newHastyLink(), ME);
        ALock lock = session.lock(0);
        LockWords words = new ProcessorWords(memory);
        long tail = LockLayout.lock(DESCRIPTORS, 0) + LockLayout.REMOTE_TAIL;
        // A session is confined to a thread, and a pool of several threads need not give the second task to the first
        // thread.
        try (ExecutorService waiter = Executors.newSingleThreadExecutor()) {
            Future<?> waiting = waiter.submit(lock::lock);
            Await.until("the waiter is in the queue", () -> words.load(tail) != 0);
            home.last().cut();
            assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(LockConnectionException.class);
            Future<?> again = waiter.submit(lock::lock);
            assertThatThrownBy(() -> again.get(30, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(LockConnectionException.class)
                    .hasMessageContaining("lost");
        }
        session.close();
        holder.unlock();
    }

    /** Shows that the tests above can fail: if processors and a device compare and set the same word, both take it. */
    @Test
    void shouldNeedTwoCohortsBecauseTheDeviceIsNotAtomicWithTheProcessor() {
        assumeFalse(LockDevice.isReal(), "a real device lets no thread between the two halves of an atomic");
        MemorySegment naiveLock = Arena.ofAuto().allocate(64, 64);
        LockWords local = new ProcessorWords(naiveLock);
        long[] foundByLocal = {-1};
        FaultPlan faults = FaultPlan.none().insideAtomics(() -> foundByLocal[0] = local.compareAndSwap(0, 0, 1));
        try (LockHome naive = new LockHome(naiveLock, faults)) {
            LockWords remote = new RdmaWords(naive.newLink());
            long foundByRemote = remote.compareAndSwap(0, 0, 2);
            assertThat(foundByRemote)
                    .as("the remote thread found the lock free")
                    .isZero();
            assertThat(foundByLocal[0])
                    .as("and so did the local one, meanwhile")
                    .isZero();
            assertThat(local.load(0)).as("whose number is lost").isEqualTo(2);
        }
    }
}
