package dev.rackcall.cp.request;

import java.time.Duration;

/**
 * Counts threads that register memory or close a region, since the device's domain must outlive them. Registering may
 * take long, so it holds no tenant's monitor; closing the agent waits here. Any thread may use it.
 */
public final class PendingRegions {
    private int count;

    /** Must be followed by {@link #end}. */
    synchronized void begin() {
        count++;
    }

    synchronized void end() {
        if (--count == 0) {
            notifyAll();
        }
    }

    /**
     * Returns when the count is zero, or after this time. Interrupts are kept for later, since the device is closed
     * next.
     */
    public synchronized void awaitNone(Duration atMost) {
        long end = System.nanoTime() + atMost.toNanos();
        boolean interrupted = false;
        for (long left = atMost.toNanos(); count > 0 && left > 0; left = end - System.nanoTime()) {
            try {
                wait(left / 1_000_000 + 1);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
