package dev.rackcall.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What a thread sends to take a lock by RDMA, and that a waiting thread sends nothing. */
@SuppressWarnings("LockNotBeforeTry")
class LockBellTest extends LockFixture {
    private static final int NODE = 7;
    private static final int ROUNDS = 100;
    private static final int DESCRIPTORS = 20;

    private final LockBell bell = new LockBell(NODE, waiters.region(), 8);
    private final RemoteTable ownLink = CountingQueuePair.in(home.newLink());
    private final CountingQueuePair sent = CountingQueuePair.of(ownLink);
    private int counter;

    LockBellTest() {
        super(DESCRIPTORS, 2, false);
    }

    private LockPeers peers() {
        RemoteTable link = waiters.newLink();
        return LockPeers.create().add(NODE, link.queuePair(), link.completions());
    }

    /** A wait that never looks at the lock's home. */
    private static final class NeverLooking extends LockWait {
        private final AtomicLong pauses = new AtomicLong();

        NeverLooking() {
            super(false);
        }

        @Override
        boolean isTimeToLook() {
            return false;
        }

        @Override
        boolean pause() {
            pauses.incrementAndGet();
            return super.pause();
        }
    }

    private static Object lockAndUnlock(ALock lock) {
        lock.lock();
        lock.unlock();
        return lock;
    }

    @Test
    void shouldTakeOneRoundTripToLockAndOneToUnlock() {
        LockSession session = LockTable.remoteSession(ownLink, 1);
        ALock lock = session.lock(0);
        lockAndUnlock(lock);
        sent.reset();
        lock.lock();
        assertThat(sent.counts()).isEqualTo("1 trips: 1 W, 1 C, 1 R");
        sent.reset();
        lock.unlock();
        assertThat(sent.counts()).isEqualTo("1 trips: 0 W, 1 C, 0 R");
        // The write that frees it travels with the next request.
        session.close();
        for (int number = DESCRIPTORS + 1; number <= 2 * DESCRIPTORS; number++) {
            int at = number;
            await(() -> words.load(LockLayout.descriptor(at) + LockLayout.OWNER) == 0);
            assertThat(LockLayout.kind(words.load(LockLayout.descriptor(at)))).isEqualTo(LockLayout.FREE);
        }
    }

    /** Its session has a second descriptor, and locked without contention. */
    private ALock heldToBeFinished(RemoteTable link, LockFinisher finisher) {
        LockSession session = LockTable.remoteSession(
                link.withBell(new LockBell(NODE, waiters.region(), 16), peers()).withFinisher(finisher), 1);
        ALock lock = session.lock(1);
        lockAndUnlock(lock);
        lock.lock();
        return lock;
    }

    @Test
    void shouldNotWaitForItsUnlockAndSendNothingMoreForIt() {
        assumeFalse(LockDevice.isReal(), "a real device does not stop in an atomic");
        Semaphore go = new Semaphore(0);
        // The finisher's thread does not run, so only the session's requests are counted.
        try (LockFinisher finisher = new LockFinisher(new LockWait(true))) {
            ALock lock = heldToBeFinished(ownLink, finisher);
            sent.reset();
            faults.insideAtomics(go::acquireUninterruptibly);
            lock.unlock();
            assertThat(last(1)).as("the lock is not free yet").isNotZero();
            assertThat(lock.isHeld()).isFalse();
            faults.insideAtomics(() -> {});
            go.release();
            lock.lock();
            // One W each frees the descriptor used before.
            assertThat(sent.counts()).isEqualTo("2 trips: 2 W, 2 C, 1 R");
            sent.reset();
            lock.unlock();
            await(() -> last(1) == 0);
            assertThat(sent.counts()).isEqualTo("1 trips: 1 W, 1 C, 0 R");
        }
    }

    @Test
    void shouldHandOverThoughTheThreadDoesNotComeBack() throws Exception {
        try (LockFinisher finisher = LockFinisher.start()) {
            for (int i = 0; i < 3; i++) {
                // A new session: after contention a session waits for its next unlocks.
                ALock held = heldToBeFinished(home.newLink(), finisher);
                long first = last(1);
                LockSession session = LockTable.remoteSession(
                        home.newLink().withBell(new LockBell(NODE, waiters.region(), 8), LockPeers.create()), 2);
                Future<?> waiter = threads.submit(() -> {
                    lockAndUnlock(session.lock(1));
                    session.close();
                });
                awaitFollower(first);
                // No unlock is open: the finisher sleeps, and this unlock wakes it.
                await(finisher::isAsleep);
                held.unlock();
                get(waiter);
                await(() -> last(1) == 0);
            }
        }
    }

    @Test
    void shouldSendNothingWhileItWaitsForItsBell() throws Exception {
        RemoteTable holderLink = CountingQueuePair.in(home.newLink());
        ALock held = new LockSession(
                        new RdmaWords(holderLink.withPeers(peers())),
                        new LockWait(true),
                        1,
                        LockTable.REMOTE_BUDGET,
                        table.sizes())
                .lock(1);
        held.lock();
        NeverLooking waiting = new NeverLooking();
        ALock lock = patient(waiting).lock(1);
        long first = last(1);
        Future<?> waiter = threads.submit(() -> lockAndUnlock(lock));
        awaitFollower(first);
        long looks = waiting.pauses.get();
        long before = sent.requests();
        await(() -> waiting.pauses.get() > looks + 1000);
        assertThat(sent.requests()).as("what the waiter has sent").isEqualTo(before);
        CountingQueuePair.of(holderLink).reset();
        held.unlock();
        get(waiter);
        // It entered an empty queue: first the guess that it has no successor, then a look, then the hand-over.
        assertThat(CountingQueuePair.of(holderLink).counts()).isEqualTo("3 trips: 0 W, 2 C, 2 R");
    }

    /** Waits for its bell alone. */
    private LockSession patient(NeverLooking waiting) {
        return new LockSession(
                new RdmaWords(ownLink.withBell(bell, LockPeers.create())),
                waiting,
                2,
                LockTable.REMOTE_BUDGET,
                table.sizes());
    }

    @Test
    void shouldBeRungByTheKeeperThatTakesTheDeadOut() throws Exception {
        RemoteTable holderLink = home.newLink();
        LockHome.Accepted holderEnd = home.last();
        LockTable.remoteSession(holderLink, 1).lock(1).lock();
        long first = last(1);
        LockSession session = patient(new NeverLooking());
        Future<?> waiter = threads.submit(() -> lockAndUnlock(session.lock(1)));
        awaitFollower(first);
        holderEnd.cut();
        try (LockKeeper keeper = table.keeper(home.newLoopback().withPeers(peers()), 1000, owner -> false)) {
            assertThat(keeper.recover(owner -> owner == 1)).isZero();
            get(waiter);
        }
    }

    @Test
    void shouldReportAnUnreachableNodeAndRingItOverAnotherQueuePair() throws Exception {
        RemoteTable broken = waiters.newLink();
        LockPeers peers = LockPeers.create();
        assertThat(peers.isReachable(NODE)).as("before a queue pair was added").isFalse();
        peers.add(NODE, broken.queuePair(), broken.completions());
        assertThat(peers.isReachable(NODE)).isTrue();
        peers.ring(NODE, waiters.region().address(), waiters.region().remoteKey(), 17);
        await(() -> new ProcessorWords(waiters.region().memory()).load(0) == 17);
        assertThat(peers.isReachable(NODE)).isTrue();
        broken.queuePair().toError();
        peers.ring(NODE, waiters.region().address(), waiters.region().remoteKey(), 18);
        await(() -> !peers.isReachable(NODE));
        RemoteTable link = waiters.newLink();
        peers.add(NODE, link.queuePair(), link.completions());
        assertThat(peers.isReachable(NODE)).isTrue();
        assertThat(peers.isReachable(NODE + 1)).isFalse();
        ALock held = LockTable.remoteSession(
                        home.newLink().withBell(new LockBell(NODE, waiters.region(), 40), peers), 1)
                .lock(1);
        held.lock();
        long first = last(1);
        LockSession session = patient(new NeverLooking());
        Future<?> waiter = threads.submit(() -> lockAndUnlock(session.lock(1)));
        awaitFollower(first);
        held.unlock();
        get(waiter);
        assertThat(peers.isReachable(NODE)).isTrue();
    }

    @Test
    void shouldExcludeThreadsThatRingEachOther() throws Exception {
        List<Future<Integer>> results = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            LockSession session = i == 3
                    ? table.localSession(1)
                    : LockTable.remoteSession(
                            home.newLink().withBell(new LockBell(NODE, waiters.region(), 32 + 8 * i), peers()), 1);
            Random random = new Random(i);
            Callable<Integer> work = () -> {
                int had = 0;
                ALock lock = session.lock(0);
                for (int round = 0; round < ROUNDS; round++) {
                    if (random.nextInt(4) != 0) {
                        lock.lock();
                    } else if (!lock.tryLock(random.nextInt(300), TimeUnit.MICROSECONDS)) {
                        continue;
                    }
                    int seen = counter;
                    Thread.onSpinWait();
                    counter = seen + 1;
                    had++;
                    lock.unlock();
                }
                session.close();
                return had;
            };
            results.add(threads.submit(work));
        }
        int had = sum(results);
        assertThat(counter).isEqualTo(had);
        assertThat(table.localSession(1).lock(0).tryLock())
                .as("the lock is free")
                .isTrue();
    }

    @Test
    void shouldFindOutByItselfWithoutARing() throws Exception {
        RemoteTable dead = waiters.newLink();
        waiters.last().cut();
        LockPeers broken = LockPeers.create().add(NODE, dead.queuePair(), dead.completions());
        for (LockPeers peers : new LockPeers[] {LockPeers.create(), broken, broken}) {
            LockSession holder = LockTable.remoteSession(
                    home.newLink().withBell(new LockBell(NODE + 1, waiters.region(), 16), peers), 1);
            ALock held = locked(holder, 0);
            RemoteTable link = home.newLink();
            LockSession session =
                    LockTable.remoteSession(link.withBell(new LockBell(NODE, waiters.region(), 24), peers()), 2);
            long first = last(0);
            Future<?> waiter = threads.submit(() -> lockAndUnlock(session.lock(0)));
            awaitFollower(first);
            held.unlock();
            get(waiter);
            assertThat(held.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS))
                    .as("the holder's session lives")
                    .isTrue();
            held.unlock();
            holder.close();
        }
    }

    @Test
    void shouldNotTakeAnEarlierRingForItsOwn() {
        long own = LockLayout.reference(5, 9);
        long ring = LockLayout.ring(own, 3);
        assertThat(LockLayout.isRingFor(ring, own)).isTrue();
        assertThat(LockLayout.budgetOfRing(ring)).isEqualTo(3);
        assertThat(LockLayout.isRingFor(ring, LockLayout.reference(6, 9))).isFalse();
        assertThat(LockLayout.isRingFor(ring, LockLayout.reference(5, 8))).isFalse();
        assertThat(LockLayout.isRingFor(0, LockLayout.reference(0, 1))).isFalse();
    }

    @Test
    void shouldRefuseABellOutsideItsRegion() {
        assertThatThrownBy(() -> new LockBell(0, waiters.region(), 4)).hasMessageContaining("multiple of 8");
        assertThatThrownBy(() -> new LockBell(0, waiters.region(), 64)).hasMessageContaining("within its region");
        assertThatThrownBy(() -> new LockBell(0, waiters.region(), -8)).isInstanceOf(IllegalArgumentException.class);
    }
}
