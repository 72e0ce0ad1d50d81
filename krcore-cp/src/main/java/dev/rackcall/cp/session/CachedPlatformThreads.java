package dev.rackcall.cp.session;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Daemon threads for sessions. Each session blocks in the kernel and needs a platform thread. Threads are reused for a
 * while, since starting one takes longer than a handshake.
 */
public final class CachedPlatformThreads {
    private static final long KEPT_SECONDS = 10;

    private CachedPlatformThreads() {}

    /** @param name of idle threads, and of threads that do not set their own */
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
