package dev.rackcall.rpc.death;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * How long the machine keeps a thread of this process from running though it wants to. A test that must say how fast something happened
 * takes this off, so that it judges the project and not its neighbours.
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

    /** Nanoseconds of the longest since the last time this was asked. */
    long takeLongest() {
        return longest.getAndSet(0);
    }

    @Override
    public void close() throws InterruptedException {
        stopping = true;
        thread.join();
    }
}
