package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.rpc.spi.LimitedLog;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Runs users' cancellation actions. They must not throw; if they do, the call still ends. */
public final class Observers {
    private static final LimitedLog LOG = LimitedLog.of(Observers.class);
    private static final long IDLE_SECONDS = 1;

    /**
     * Platform threads: handlers that compute until they are cancelled may occupy all carrier threads, so a virtual
     * thread might never run. There is one thread per call whose actions run, and none when idle.
     */
    private static final Executor CANCELLATIONS = new ThreadPoolExecutor(
            0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                Thread thread = new Thread(task, "rackcall-cancelled");
                thread.setDaemon(true);
                return thread;
            });

    private Observers() {}

    /**
     * Runs the cancellation actions of a call in order, on a thread of their own: they may block, and pollers have
     * other clients to serve.
     */
    public static void cancelledAside(List<Runnable> actions) {
        CANCELLATIONS.execute(() -> actions.forEach(Observers::cancelled));
    }

    /** Runs one cancellation action, whose failure must not affect the others. */
    public static void cancelled(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error e) {
            LOG.warn("an action for the cancellation of a call threw {}", e, e);
        }
    }
}
