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
 * How long a thread waits for its host's agent process: for being admitted, for the next agent after the death of one, for an answer. Each thing that is asked of a {@code Tenant} takes
 * 5 s at most; whoever has less time says so, and all that he asks for meanwhile ends by then.
 *
 * {@snippet :
 * VirtualQueue queue = Patience.within(Duration.ofMillis(100), () -> tenant.connect(HostId.named("b")));
 * }
 */
public final class Patience {
    private static final Duration USUAL = Duration.ofSeconds(5);
    /** By {@link System#nanoTime}. Of the calling thread: what waits lies deep below who knows how much time there is. */
    private static final ScopedValue<Long> END = ScopedValue.newInstance();

    private final long start = System.nanoTime();
    private final long nanos;

    private Patience(long nanos) {
        this.nanos = Math.max(0, nanos);
    }

    /**
     * Runs what the calling thread has so much time for in all, as far as it waits for an agent process. Within such a time of its caller's, the shorter one counts.
     *
     * @return what that returns
     */
    public static <T> T within(Duration atMost, Supplier<T> work) {
        long now = System.nanoTime();
        long nanos = END.isBound() ? Math.min(atMost.toNanos(), END.get() - now) : atMost.toNanos();
        return ScopedValue.where(END, now + nanos).call(work::get);
    }

    /** How long the calling thread may wait for an agent process now; zero if its time is over. */
    public static Duration left() {
        return Duration.ofNanos(begin().nanosLeft());
    }

    /** For what the calling thread asks for now, which counts from here. */
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
     * Waits for what another thread makes.
     *
     * @param what that is, for messages
     * @throws TimeoutException if this is over before
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

    /** Of a thread that was to wait; it stays interrupted. */
    static ControlPlaneException interrupted(String what) {
        Thread.currentThread().interrupt();
        return new ControlPlaneException(Kind.UNREACHABLE, "interrupted while " + what + "; try again");
    }

    /** How long it was, or has been so far, for messages. */
    @Override
    public String toString() {
        long millis = TimeUnit.NANOSECONDS.toMillis(Math.min(nanos, System.nanoTime() - start));
        return millis % 1000 == 0 && millis > 0 ? millis / 1000 + " s" : millis + " ms";
    }
}
