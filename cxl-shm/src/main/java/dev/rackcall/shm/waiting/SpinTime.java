package dev.rackcall.shm.waiting;

/**
 * How long it has paid off lately to spin before sleeping: the time that one kind of wait takes, learned wait by wait.
 * A server's poller learns the gaps between requests, and a client's connection learns the time to an answer.
 *
 * <p>The rule is that of the kernel's halt polling (virt/kvm/kvm_main.c, {@code grow_halt_poll_ns} and {@code
 * shrink_halt_poll_ns}): a wait that was met while spinning keeps the time, a sleep that ended early grows it, a long
 * sleep shrinks it.
 *
 * <p>Threads may share it without synchronisation. A lost update costs some microseconds at most.
 */
public final class SpinTime {
    /** About what it costs to put a thread to sleep and to wake it on another processor: longer spinning cannot pay. */
    private static final long WAKE_UP_NANOS = 50_000;

    /** Wake-ups between a device's event and the thread that waits for it: the device's thread, the reactor, the thread. */
    private static final int WAKE_UPS_OF_DEVICE = 4;

    private static final long SHORTEST_NANOS = 2_000;

    /** Where spinning does not pay, one of this many waits spins all the same, to find out whether it does by now. */
    private static final int WAITS_PER_TRIAL = 32;

    private final long longest;
    private long nanos;
    private int waits;

    private SpinTime(long longest) {
        this.longest = longest;
        this.nanos = longest / 2;
    }

    /** For waits for another process that shares memory. */
    public static SpinTime ofMemory() {
        return new SpinTime(WAKE_UP_NANOS);
    }

    /** For waits in which the thread looks at a device. */
    public static SpinTime ofDevice() {
        return new SpinTime(WAKE_UPS_OF_DEVICE * WAKE_UP_NANOS);
    }

    /** How long the next wait may spin; 0: not at all. */
    long next() {
        return nanos == 0 && ++waits % WAITS_PER_TRIAL == 0 ? longest : nanos;
    }

    /** A wait was met after {@code waited} of spinning. */
    void met(long waited) {
        if (2 * waited > nanos) {
            nanos = Math.min(longest, 2 * waited);
        }
    }

    /** A wait had to sleep; it took {@code waited} altogether. */
    void slept(long waited) {
        // A sleep of this length, wake-up included, would have been met by spinning.
        if (waited <= 2 * longest && nanos < longest) {
            nanos = longest;
        } else {
            nanos = nanos / 2 < SHORTEST_NANOS ? 0 : nanos / 2;
        }
    }
}
