package dev.rackcall.rpc.spi;

import java.util.concurrent.locks.LockSupport;

/**
 * Keeps interrupts away from a thread that must finish what it has begun, such as the end of a server. The thread is
 * interrupted again by {@link #close}. Confined to its thread.
 */
public final class Uninterrupted implements AutoCloseable {
    /** Waits for something. */
    @FunctionalInterface
    public interface Wait {
        /** Waits for at most {@code nanos}; returns whether it has come. */
        boolean within(long nanos) throws InterruptedException;
    }

    private boolean interrupted = Thread.interrupted();

    /** Waits for at most {@code nanos}; returns whether it has come. */
    public boolean await(long nanos, Wait wait) {
        long end = System.nanoTime() + nanos;
        while (true) {
            try {
                return wait.within(Math.max(0, end - System.nanoTime()));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    /** Takes an interrupt that has come since; {@link #close} gives it back. */
    public void take() {
        interrupted |= Thread.interrupted();
    }

    /** Rests for at most {@code nanos}. */
    public void rest(long nanos) {
        take();
        LockSupport.parkNanos(nanos);
    }

    @Override
    public void close() {
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
