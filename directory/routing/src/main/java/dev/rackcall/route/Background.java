package dev.rackcall.route;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The threads that try routes: one timer for the process, and a platform thread for each task, which may block. */
final class Background {
    private static final ScheduledExecutorService CLOCK = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("rackcall-routes").factory());
    private static final ExecutorService WORKERS = Executors.newCachedThreadPool(
            Thread.ofPlatform().daemon().name("rackcall-route-", 1).factory());

    private Background() {}

    /** Runs the task periodically on a worker; skips a turn while the previous run is still in progress. */
    static Future<?> every(long millis, Runnable task) {
        return CLOCK.scheduleWithFixedDelay(
                new Runnable() {
                    private Future<?> last = WORKERS.submit(() -> {});

                    @Override
                    public void run() {
                        if (last.isDone()) {
                            last = WORKERS.submit(task);
                        }
                    }
                },
                millis,
                millis,
                TimeUnit.MILLISECONDS);
    }

    static Future<?> submit(Runnable task) {
        return WORKERS.submit(task);
    }

    static void run(Runnable task) {
        WORKERS.execute(task);
    }
}
