package dev.rackcall.cp.request;

import java.time.Duration;

/**
 * How many threads are registering memory or closing a region: a device's domain must not be closed under them. Any thread may use it; nobody waits with a tenant's monitor for a device that
 * pins gigabytes, but whoever closes the agent does.
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

    /** Returns when nobody is at it any more, or after this time; also for a thread that is interrupted, since the device is closed next. */
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
