package dev.rackcall.cp.client;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * How long a thread waits for its host's agent process: to be admitted, for the next agent after a death, for a reply.
 * Each operation on a {@code Tenant} takes at most 5 s; a thread with less time sets its own limit, which bounds all
 * operations inside it.
 *
 * {@snippet :
 * VirtualQueue queue = Patience.within(Duration.ofMillis(100), () -> tenant.connect(HostId.named("b")));
 * }
 */
public final class Patience {
    private static final Duration USUAL = Duration.ofSeconds(5);
    /**
     * The calling thread's limit, by {@link System#nanoTime}. A scoped value, because the code that waits is called far
     * below the code that sets the limit.
     */
    private static final ScopedValue<Long> END = ScopedValue.newInstance();

    private final long start = System.nanoTime();
    private final long nanos;

    private Patience(long nanos) {
        this.nanos = Math.max(0, nanos);
    }

    /**
     * Runs work during which the calling thread waits at most this long in all for an agent process. Inside another
     * limit, the shorter one applies.
     *
     * @return the work's result
     */
    public static <T> T within(Duration atMost, Supplier<T> work) {
        long now = System.nanoTime();
        long nanos = END.isBound() ? Math.min(atMost.toNanos(), END.get() - now) : atMost.toNanos();
        return ScopedValue.where(END, now + nanos).call(work::get);
    }

    /** How long the calling thread may still wait for an agent process; zero if its time is up. */
    public static Duration left() {
        return Duration.ofNanos(begin().nanosLeft());
    }

    /** The limit of an operation that begins now. */
    static Patience begin() {
        return new Patience(END.isBound() ? Math.min(USUAL.toNanos(), END.get() - System.nanoTime()) : USUAL.toNanos());
    }

    static Patience of(Duration atMost) {
        return new Patience(atMost.toNanos());
    }

    long nanosLeft() {
        return Math.max(0, nanos - (System.nanoTime() - start));
    }

    Duration timeLeft() {
        return Duration.ofNanos(nanosLeft());
    }

    boolean isOver() {
        return nanosLeft() == 0;
    }

    /**
     * Waits for the result of another thread.
     *
     * @param what for messages
     * @throws TimeoutException if the limit is reached
     * @throws ExecutionException as {@link CompletableFuture#get}
     * @throws ControlPlaneException UNREACHABLE if the thread is interrupted
     */
    <T> T await(CompletableFuture<T> made, String what) throws ExecutionException, TimeoutException {
        try {
            return made.get(nanosLeft(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw interrupted(what);
        }
    }

    /** The error of an interrupted wait; the thread stays interrupted. */
    static ControlPlaneException interrupted(String what) {
        Thread.currentThread().interrupt();
        return new ControlPlaneException(Kind.UNREACHABLE, "interrupted while " + what + "; try again");
    }

    /** The limit, or the time waited so far, for messages. */
    @Override
    public String toString() {
        long millis = TimeUnit.NANOSECONDS.toMillis(Math.min(nanos, System.nanoTime() - start));
        return millis % 1000 == 0 && millis > 0 ? millis / 1000 + " s" : millis + " ms";
    }
}
