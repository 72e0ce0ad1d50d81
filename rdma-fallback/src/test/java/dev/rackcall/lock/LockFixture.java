package dev.rackcall.lock;

import dev.rackcall.testkit.Await;
import dev.rackcall.verbs.soft.FaultPlan;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;

/** A lock table that is reached by memory and over a device, and threads that use it. */
@SuppressWarnings("LockNotBeforeTry")
abstract class LockFixture {
    static final long PATIENCE_SECONDS = 30;
    /** Longer than contending threads take, unless one of them waits for a keeper. */
    private static final long ALONE_SECONDS = 5;

    private static final long HELPER = 999;

    final MemorySegment memory;
    final LockTable table;
    final LockWords words;
    final FaultPlan faults = FaultPlan.none();
    final LockHome home;
    /** The host of threads that wait at bells. */
    final LockHome waiters = new LockHome(Arena.ofAuto().allocate(64, 64));

    final ExecutorService threads = Executors.newCachedThreadPool();
    private Optional<LockKeeper> keeper = Optional.empty();

    LockFixture(int descriptors, int locks, boolean readers) {
        memory = Arena.ofAuto().allocate(LockTable.bytes(descriptors, locks), 64);
        table = readers
                ? LockTable.createWithReaders(memory, descriptors, locks)
                : LockTable.create(memory, descriptors, locks);
        words = new ProcessorWords(memory);
        home = new LockHome(memory, faults);
    }

    @AfterEach
    void closeFixture() {
        threads.close();
        keeper.ifPresent(LockKeeper::close);
        home.close();
        waiters.close();
    }

    final LockSession local(long owner) {
        return table.localSession(owner);
    }

    final LockSession remote(long owner) {
        return LockTable.remoteSession(home.newLink(), owner);
    }

    /** The last in the queue of remote threads. */
    final long last(int lock) {
        return words.load(LockLayout.lock(table.sizes().descriptors(), lock) + LockLayout.REMOTE_TAIL);
    }

    /** Until a thread is linked behind this one. */
    final void awaitFollower(long first) {
        await(() -> words.load(LockLayout.descriptorOf(first) + LockLayout.NEXT) != 0);
    }

    static void await(BooleanSupplier condition) {
        Await.until("the condition", condition);
    }

    /** Takes a lock of this session. */
    static ALock locked(LockSession session, int index) {
        ALock lock = session.lock(index);
        lock.lock();
        return lock;
    }

    /** A keeper that the fixture closes. */
    final LockKeeper keeper(long owner) {
        keeper = Optional.of(table.keeper(home.newLoopback(), owner, other -> false));
        return keeper.get();
    }

    static <T> T get(Future<T> future) throws Exception {
        return future.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    /**
     * The sum of what threads return that contend for locks. If the machine stops one of them for a second just as it
     * enters a queue, only a keeper hands the lock to it, as {@link LockKeeper#recover} says.
     */
    final int sum(List<Future<Integer>> results) throws Exception {
        int sum = 0;
        for (Future<Integer> result : results) {
            while (!hasEnded(result)) {
                if (keeper.isEmpty()) {
                    keeper(HELPER);
                }
                keeper.get().recover(owner -> false);
            }
            sum += result.get();
        }
        return sum;
    }

    /** Whether it ends without help. */
    private static boolean hasEnded(Future<Integer> result) throws InterruptedException {
        try {
            result.get(ALONE_SECONDS, TimeUnit.SECONDS);
            return true;
        } catch (ExecutionException e) {
            // The caller's get throws it.
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }
}
