package dev.rackcall.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** Waits for conditions, with a bound that only a hang exceeds. */
public final class Await {
    /**
     * Only a hang exceeds this bound, also on an overloaded machine or an emulated processor. Shorter than the time
     * limit of a test, so that the wait explains the failure.
     */
    public static final Duration BOUND = Duration.ofSeconds(100);

    /** Checks without a sleep in between, for a condition that another thread is about to make true. */
    private static final int EAGER_LOOKS = 100;

    private static final long EAGER_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
    /** A pause is this many times as long as a check, which leaves the processors to the awaited work. */
    private static final int PAUSES_A_LOOK = 5;

    private Await() {}

    /** Waits until the condition holds; fails after {@link #BOUND}. */
    public static void until(String what, BooleanSupplier condition) {
        equal(what, true, condition::getAsBoolean);
    }

    /** Waits until the latch has counted down; fails after {@link #BOUND}, or when this thread is interrupted. */
    public static void latch(CountDownLatch latch) {
        try {
            if (!latch.await(BOUND.toSeconds(), TimeUnit.SECONDS)) {
                throw new AssertionError("a latch was not counted down within " + BOUND);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Waits until the value is as expected; fails after {@link #BOUND} and reports the last value. */
    public static <T> void equal(String what, T expected, Supplier<T> value) {
        long start = System.nanoTime();
        for (int looks = 1; ; looks++) {
            long began = System.nanoTime();
            T found = value.get();
            if (Objects.equals(found, expected)) {
                return;
            }
            long ended = System.nanoTime();
            if (ended - start >= BOUND.toNanos()) {
                throw new AssertionError(
                        what + ": expected " + expected + " within " + BOUND + ", but it still is " + found);
            }
            if (looks < EAGER_LOOKS && ended - start < EAGER_NANOS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(Math.max(PAUSE_NANOS, PAUSES_A_LOOK * (ended - began)));
            }
        }
    }

    /** Deletes the folder, into which a thread that is about to end may still write. */
    public static void deleted(Path folder) {
        until("the deletion of " + folder, () -> isDeleted(folder));
    }

    private static boolean isDeleted(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
            return true;
        } catch (IOException | UncheckedIOException e) {
            return !Files.exists(folder);
        }
    }
}
