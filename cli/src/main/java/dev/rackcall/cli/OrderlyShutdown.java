package dev.rackcall.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets a process close its resources before the JVM halts on a signal. It is opened before all of them and closed after
 * them, as the outermost of try-with-resources. Any thread may query it; one closes it.
 */
final class OrderlyShutdown implements AutoCloseable {
    /** How long the JVM waits for the resources. After that, names in a directory end with their lease. */
    private static final int PATIENCE_SECONDS = 10;

    private final CountDownLatch requested = new CountDownLatch(1);
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread hook = Thread.ofPlatform().unstarted(this::await);

    private OrderlyShutdown() {}

    static OrderlyShutdown open() {
        OrderlyShutdown shutdown = new OrderlyShutdown();
        Runtime.getRuntime().addShutdownHook(shutdown.hook);
        return shutdown;
    }

    /** Whether the process is being terminated. */
    boolean isRequested() {
        return requested.getCount() == 0;
    }

    private void await() {
        requested.countDown();
        try {
            ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Everything is closed; the JVM may halt. */
    @Override
    public void close() {
        ended.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException isRunning) {
            // The hook is running: it has caused this close.
            return;
        }
    }
}
