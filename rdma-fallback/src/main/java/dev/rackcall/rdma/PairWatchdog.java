package dev.rackcall.rdma;

import java.net.Socket;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Closes sockets whose peers take too long, which ends the waits of their threads. Needed over TLS: one read of a TLS
 * stream may read the socket many times, each time within the socket's time limit. Thread-safe.
 */
final class PairWatchdog {
    private static final long IDLE_SECONDS = 10;
    /** Its thread starts with the first watch, and ends after a while without watches. */
    private static final ScheduledThreadPoolExecutor TIMER = timer();

    private PairWatchdog() {}

    private static ScheduledThreadPoolExecutor timer() {
        ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().daemon().name("rackcall-rdma-watchdog").factory());
        // Otherwise each watch would keep its socket until the time is up, although the wait has ended.
        timer.setRemoveOnCancelPolicy(true);
        timer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        timer.allowCoreThreadTimeOut(true);
        return timer;
    }

    /** Closes the socket after that time, unless the watch is cancelled before. */
    static Future<?> watch(Socket socket, long nanos) {
        return TIMER.schedule(() -> PairHandshake.giveUp(null, socket), nanos, TimeUnit.NANOSECONDS);
    }

    /** Watches that have neither ended nor been cancelled. */
    static int pending() {
        return TIMER.getQueue().size();
    }
}
