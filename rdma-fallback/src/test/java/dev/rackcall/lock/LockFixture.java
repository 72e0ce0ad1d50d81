package dev.rackcall.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.verbs.soft.FaultPlan;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** A lock table that is reached by memory and over a device, and threads that use it. */
@SuppressWarnings("LockNotBeforeTry")
@Timeout(60)
abstract class LockFixture {
    static final long PATIENCE_SECONDS = 30;

    final MemorySegment memory;
    final LockTable table;
    final LockWords words;
    final FaultPlan faults = FaultPlan.none();
    final LockHome home;
    /** The host of threads that wait at bells. */
    final LockHome waiters = new LockHome(Arena.ofAuto().allocate(64, 64));

    final ExecutorService threads = Executors.newCachedThreadPool();

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
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - start)
                    .as("nanoseconds waited")
                    .isLessThan(TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS));
            Thread.onSpinWait();
        }
    }
}
