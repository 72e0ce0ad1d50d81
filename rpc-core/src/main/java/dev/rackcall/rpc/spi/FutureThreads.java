package dev.rackcall.rpc.spi;

import java.util.concurrent.ThreadFactory;

/**
 * Virtual threads that end asynchronous calls: they complete futures, and so run users' stages, which may take any time.
 */
public final class FutureThreads {
    private static final ThreadFactory THREADS =
            Thread.ofVirtual().name("rackcall-future").factory();

    private FutureThreads() {}

    /** Runs {@code action} on a thread of its own. */
    public static void run(Runnable action) {
        THREADS.newThread(action).start();
    }
}
