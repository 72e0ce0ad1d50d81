package dev.rackcall.shm.waiting;

/**
 * How long a waiting thread spins, how often it then yields, and whether it finally sleeps in the kernel. Immutable.
 *
 * <ul>
 *   <li>{@link #busySpin()}: lowest latency, but the thread occupies its core all the time. For dedicated cores.
 *   <li>{@link #adaptive()}: spins while calls arrive, then yields, then sleeps. The default: nearly the latency of
 *       spinning under load, and no CPU time when idle.
 *   <li>{@link #blocking()}: sleeps at once. For many mostly idle peers on few cores; a call costs two kernel wake-ups.
 * </ul>
 *
 * @param spins polls with a CPU pause between them before the thread yields; {@link Integer#MAX_VALUE} means for ever
 * @param yields polls with a {@link Thread#yield} between them before the thread sleeps
 */
public record WaitStrategy(int spins, int yields) {
    /**
     * A CPU pause takes 5 to 10 ns on some processors and about 40 ns on others (Intel since Skylake). This is
     * therefore 50 to 100 us or 400 to 450 us: one to several times the cost of a kernel wake-up. A lower value would
     * save CPU time when idle, but slow down calls that arrive a few hundred microseconds apart.
     */
    private static final int ADAPTIVE_SPINS = 10_000;

    private static final int ADAPTIVE_YIELDS = 20;

    private static final WaitStrategy BUSY_SPIN = new WaitStrategy(Integer.MAX_VALUE, 0);
    private static final WaitStrategy ADAPTIVE = new WaitStrategy(ADAPTIVE_SPINS, ADAPTIVE_YIELDS);
    private static final WaitStrategy BLOCKING = new WaitStrategy(0, 0);

    public WaitStrategy {
        if (spins < 0 || yields < 0) {
            throw new IllegalArgumentException(
                    "a wait strategy has no negative counts: spins " + spins + ", yields " + yields);
        }
    }

    public static WaitStrategy busySpin() {
        return BUSY_SPIN;
    }

    public static WaitStrategy adaptive() {
        return ADAPTIVE;
    }

    public static WaitStrategy blocking() {
        return BLOCKING;
    }

    /** Whether a thread with this strategy ever sleeps in the kernel. */
    public boolean sleeps() {
        return spins != Integer.MAX_VALUE;
    }
}
