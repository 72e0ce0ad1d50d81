package dev.rackcall.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;

/** What code allocates once it is compiled. */
public final class Allocation {
    private static final int ROUNDS = 20_000;
    /** Compiling takes long on a machine that is busy with other things. */
    private static final long PATIENCE_NANOS = 100_000_000_000L;

    private Allocation() {}

    /** Runs {@code action} until it allocates nothing; fails if it goes on allocating. */
    public static void settlesAtNothing(Runnable action) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long allocated = Long.MAX_VALUE;
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (allocated >= ROUNDS && System.nanoTime() - end < 0) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < ROUNDS; i++) {
                action.run();
            }
            allocated = threads.getCurrentThreadAllocatedBytes() - before;
        }
        assertThat(allocated).as("bytes in %d rounds", ROUNDS).isLessThan(ROUNDS);
    }
}
