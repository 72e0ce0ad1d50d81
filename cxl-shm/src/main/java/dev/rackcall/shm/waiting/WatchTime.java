package dev.rackcall.shm.waiting;

import java.util.concurrent.TimeUnit;

/**
 * How long a polling thread watches a connection that brings it nothing, while another one is busy. After that, the
 * connection's peer has to ring. Confined to that thread.
 */
public final class WatchTime {
    /**
     * Longer than a busy peer waits for its next time slice in a crowd: if it had to ring then, it would use the slice for
     * one call.
     */
    private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private long start = System.nanoTime();

    /**
     * Whether the time is over; then it begins again. The thread now lets those peers ring whose connections brought
     * nothing since this was last true: a connection is watched for one to two times as long.
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
