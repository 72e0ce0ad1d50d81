package dev.rackcall.rpc.death;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures how long the machine delays a runnable thread. A test of speed subtracts this delay, so it judges the
 * project and not the load of the machine.
 */
final class Hiccups implements AutoCloseable {
    private static final long NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final AtomicLong longest = new AtomicLong();
    private final Thread thread = Thread.ofPlatform().daemon().name("hiccups").start(this::measure);
    private volatile boolean stopping;

    private void measure() {
        long before = System.nanoTime();
        while (!stopping) {
            LockSupport.parkNanos(NAP_NANOS);
            long now = System.nanoTime();
            longest.accumulateAndGet(now - before - NAP_NANOS, Math::max);
            before = now;
        }
    }

    /** Nanoseconds of the longest delay since the last call. */
    long takeLongest() {
        return longest.getAndSet(0);
    }

    @Override
    public void close() throws InterruptedException {
        stopping = true;
        thread.join();
    }
}
