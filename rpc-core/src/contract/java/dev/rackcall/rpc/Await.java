package dev.rackcall.rpc;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waiting for conditions, with a bound that only a hang exceeds. */
public final class Await {
    /** What only a hang exceeds, also on a machine that does much more than it can, or emulates processors. */
    public static final Duration BOUND = Duration.ofSeconds(100);

    private Await() {}

    /** Waits until the condition holds; fails after half a minute. */
    public static void until(String what, BooleanSupplier condition) {
        equal(what, true, condition::getAsBoolean);
    }

    /** Waits until the value is as expected; fails after half a minute and says what it was instead. */
    public static <T> void equal(String what, T expected, Supplier<T> value) {
        long end = System.nanoTime() + BOUND.toNanos();
        T found = value.get();
        while (!Objects.equals(found, expected)) {
            if (System.nanoTime() - end >= 0) {
                throw new AssertionError(
                        what + ": expected " + expected + " within " + BOUND + ", but it still is " + found);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            found = value.get();
        }
    }
}
