package dev.rackcall.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Has a process that is ended by a signal close what it has open before the JVM halts: opened before all of that and closed after it, as the outermost of
 * try-with-resources. Any thread may ask; one closes.
 */
final class OrderlyShutdown implements AutoCloseable {
    /** So long a signal waits for that; what a directory names then goes with its lease. */
    private static final int PATIENCE_SECONDS = 10;

    private final CountDownLatch told = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread hook = Thread.ofPlatform().unstarted(this::await);

    private OrderlyShutdown() {}

    static OrderlyShutdown open() {
        OrderlyShutdown farewell = new OrderlyShutdown();
        Runtime.getRuntime().addShutdownHook(farewell.hook);
        return farewell;
    }

    /** Whether the process was told to end. */
    boolean isTold() {
        return told.getCount() == 0;
    }

    private void await() {
        told.countDown();
        try {
            ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Everything is closed. */
    @Override
    public void close() {
        ended.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException isRunning) {
            // It is what ended this.
            return;
        }
    }
}
