package dev.rackcall.shm.waiting;

import java.util.concurrent.TimeUnit;

/**
 * How long a polling thread watches a connection without work while another connection is busy. After that, the
 * connection's peer has to ring. Confined to that thread.
 */
public final class WatchTime {
    /**
     * Longer than a busy peer waits for its next time slice among many processes. A peer that had to ring then would
     * use the slice for one call.
     */
    private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private long start = System.nanoTime();

    /**
     * Whether the time has passed; if so, it starts again, and the caller lets the peers of unused connections ring:
     * those without work since this last returned true. Such a connection is watched for one to two times as long.
     */
    public boolean isOver() {
        long now = System.nanoTime();
        boolean over = now - start > NANOS;
        if (over) {
            start = now;
        }
        return over;
    }
}
