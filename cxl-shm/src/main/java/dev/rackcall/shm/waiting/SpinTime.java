package dev.rackcall.shm.waiting;

import java.util.concurrent.TimeUnit;

/**
 * How long to spin before sleeping, adapted to the recent duration of one kind of wait. For a server's poller, that is
 * the gap between requests; for a client's connection, it is the time to an answer.
 *
 * <p>The rule is that of the kernel's halt polling (virt/kvm/kvm_main.c, {@code grow_halt_poll_ns} and {@code
 * shrink_halt_poll_ns}): a wait that ends while spinning keeps the time, a sleep that ends early raises it, and a long
 * sleep lowers it.
 *
 * <p>A wait that loses its processor halves the time, at most {@value #MOST_HALVINGS} times. Each wait that ends while
 * spinning doubles it again. A pause that stops all threads that share the time, such as a garbage collector's, halves
 * it once.
 *
 * <p>Threads may share it without synchronisation. A lost update costs some microseconds at most.
 */
public final class SpinTime {
    /**
     * Approximate cost of putting a thread to sleep and waking it on another processor. Longer spinning cannot pay off.
     */
    private static final long WAKE_UP_NANOS = 50_000;

    /** Wake-ups from a device's event to the thread that waits for it: the device's thread, the reactor, the thread. */
    private static final int WAKE_UPS_OF_DEVICE = 4;

    private static final long SHORTEST_NANOS = 2_000;

    /** Where spinning does not pay, or is shortened, one of this many waits spins in full, to find out whether it pays. */
    private static final int WAITS_PER_TRIAL = 32;

    private static final int MOST_HALVINGS = 4;

    /**
     * Losses of the processor that began before the last halving, or less than this after it, do not halve again. A
     * garbage collector may stop all threads several times within this time. A time slice is about as long, so the
     * loss of a second one mostly counts.
     */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** Longer between two checks of memory means that another thread had the processor. */
    private static final long MEMORY_STEP_NANOS = 20_000;

    /** The same if each check polls a device, which may take some system calls. */
    private static final long DEVICE_STEP_NANOS = 200_000;

    private final long longest;
    private final long longestStep;
    private long nanos;
    /** How often the time is halved, as threads were preempted. */
    private int halvings;
    /** When it was last halved, by {@link System#nanoTime}. */
    private long lastHalving = System.nanoTime() - PAUSE_NANOS;

    private int waits;

    private SpinTime(long longest, long longestStep) {
        this.longest = longest;
        this.longestStep = longestStep;
        this.nanos = longest / 2;
    }

    /** For waits for another process that shares memory. */
    public static SpinTime ofMemory() {
        return new SpinTime(WAKE_UP_NANOS, MEMORY_STEP_NANOS);
    }

    /** For waits in which the thread polls a device, or works between two looks and is woken through another thread. */
    public static SpinTime ofDevice() {
        return new SpinTime(WAKE_UPS_OF_DEVICE * WAKE_UP_NANOS, DEVICE_STEP_NANOS);
    }

    /** How long the next wait may spin, in nanoseconds; 0 not to spin. */
    long next() {
        return (nanos == 0 || halvings > 0) && ++waits % WAITS_PER_TRIAL == 0 ? longest : nanos >> halvings;
    }

    /** The longest time between two checks in which the thread kept its processor, in nanoseconds. */
    long longestStep() {
        return longestStep;
    }

    /** Records a wait that ended after {@code waited} nanoseconds of spinning. */
    void met(long waited) {
        halvings = Math.max(0, halvings - 1);
        nanos = Math.clamp(2 * waited, Math.max(nanos, SHORTEST_NANOS), longest);
    }

    /**
     * Records that a thread lost its processor while it was spinning.
     *
     * @param since when it last had it, by {@link System#nanoTime}
     * @param now when it has it again
     */
    void preempted(long since, long now) {
        if (since - lastHalving >= PAUSE_NANOS) {
            lastHalving = now;
            halvings = Math.min(MOST_HALVINGS, halvings + 1);
        }
    }

    /** Records a wait that had to sleep and took {@code waited} nanoseconds in total. */
    void slept(long waited) {
        // A sleep of this length, wake-up included, would have been met by spinning.
        if (waited <= 2 * longest && nanos < longest) {
            nanos = longest;
        } else {
            nanos = nanos / 2 < SHORTEST_NANOS ? 0 : nanos / 2;
        }
    }
}
