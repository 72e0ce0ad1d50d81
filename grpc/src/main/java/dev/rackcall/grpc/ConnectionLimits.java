package dev.rackcall.grpc;

import io.grpc.Status;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * How long a server keeps a connection, in nanoseconds.
 *
 * @param idle without a call; then the client opens another one when it needs it
 * @param age after that, calls go over a new connection
 * @param grace what calls of an aged connection have left
 */
record ConnectionLimits(long idle, long age, long grace) {
    /** No limit. */
    static final long NEVER = Long.MAX_VALUE;

    static final ConnectionLimits NONE = new ConnectionLimits(NEVER, NEVER, NEVER);

    ConnectionLimits withIdle(long nanos) {
        return new ConnectionLimits(nanos, age, grace);
    }

    ConnectionLimits withAge(long nanos) {
        return new ConnectionLimits(idle, nanos, grace);
    }

    ConnectionLimits withGrace(long nanos) {
        return new ConnectionLimits(idle, age, nanos);
    }

    /** Starts the timers of one connection, which has no calls yet. */
    Timers start(RackcallServerTransport transport, ScheduledExecutorService scheduler) {
        Timers timers = new Timers(this, transport, scheduler);
        timers.begin();
        return timers;
    }

    /** The timers of one connection. Thread-safe. */
    static final class Timers {
        private final ConnectionLimits limits;
        private final RackcallServerTransport transport;
        private final ScheduledExecutorService scheduler;

        private int calls;
        private long idleSince = System.nanoTime();
        /** Null while none is set; one that finds a call sets none, and the call's end sets the next. */
        private Future<?> idleTimer;
        /** Of the age, and then of the grace. */
        private Future<?> ageTimer;

        private boolean stopped;

        private Timers(ConnectionLimits limits, RackcallServerTransport transport, ScheduledExecutorService scheduler) {
            this.limits = limits;
            this.transport = transport;
            this.scheduler = scheduler;
        }

        private synchronized void begin() {
            if (limits.age != NEVER) {
                ageTimer = scheduler.schedule(this::aged, limits.age, TimeUnit.NANOSECONDS);
            }
            watchIdle(limits.idle);
        }

        private void watchIdle(long nanos) {
            if (limits.idle != NEVER && !stopped) {
                idleTimer = scheduler.schedule(this::lookIdle, nanos, TimeUnit.NANOSECONDS);
            }
        }

        synchronized void callBegins() {
            calls++;
        }

        synchronized void callEnds() {
            if (--calls == 0 && limits.idle != NEVER) {
                idleSince = System.nanoTime();
                if (idleTimer == null) {
                    watchIdle(limits.idle);
                }
            }
        }

        private void lookIdle() {
            synchronized (this) {
                idleTimer = null;
                if (calls > 0) {
                    return;
                }
                long left = limits.idle - (System.nanoTime() - idleSince);
                if (left > 0) {
                    watchIdle(left);
                    return;
                }
            }
            transport.shutdown();
        }

        private void aged() {
            synchronized (this) {
                if (limits.grace != NEVER && !stopped) {
                    ageTimer = scheduler.schedule(
                            () -> transport.shutdownNow(Status.UNAVAILABLE.withDescription(
                                    "the connection exceeded maxConnectionAge, and maxConnectionAgeGrace has passed")),
                            limits.grace,
                            TimeUnit.NANOSECONDS);
                }
            }
            transport.shutdown();
        }

        /** The connection has ended. */
        synchronized void stop() {
            stopped = true;
            if (idleTimer != null) {
                idleTimer.cancel(false);
            }
            if (ageTimer != null) {
                ageTimer.cancel(false);
            }
        }
    }
}
