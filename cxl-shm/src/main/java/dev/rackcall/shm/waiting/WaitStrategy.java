package dev.rackcall.shm.waiting;

/**
 * How long a waiting thread spins, how often it then offers its core to others, and whether it finally sleeps in the kernel.
 * Immutable.
 *
 * <ul>
 *   <li>{@link #busySpin()}: lowest latency; the thread keeps its core for ever. For dedicated cores.
 *   <li>{@link #adaptive()}: spins while calls come, then yields, then sleeps (busy polling, then events). The default: about the latency
 *       of spinning under load, no CPU when idle.
 *   <li>{@link #blocking()}: sleeps at once. For many mostly idle peers on few cores; a call costs two kernel wake-ups.
 * </ul>
 *
 * @param spins polls with a CPU pause between them before the thread yields; {@link Integer#MAX_VALUE} is for ever
 * @param yields polls with a {@link Thread#yield} between them before the thread sleeps
 */
public record WaitStrategy(int spins, int yields) {
    /**
     * A CPU pause takes 5 to 10 ns on some processors and some 40 ns on others (Intel since Skylake), so this is 50 to 100 us there and
     * 400 to 450 us here: one to several times what a wake-up by the kernel costs. Fewer would save time of idle cores and make the calls slower that
     * come a few hundred microseconds apart.
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

    /** Whether a thread that follows this strategy ever sleeps in the kernel. */
    public boolean sleeps() {
        return spins != Integer.MAX_VALUE;
    }
}
