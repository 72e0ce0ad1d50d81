package dev.rackcall.cp.session;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Daemon threads for sessions, each of which blocks in the kernel and so needs one of its own: those of sessions that have ended serve the next ones for a while, since making one takes longer
 * than the hello for which it is made.
 */
public final class CachedPlatformThreads {
    private static final long KEPT_SECONDS = 10;

    private CachedPlatformThreads() {}

    /** @param name of threads that have no work, and of those that have until they say otherwise */
    public static ExecutorService create(String name) {
        return new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                KEPT_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                Thread.ofPlatform().daemon().name(name).factory());
    }
}
