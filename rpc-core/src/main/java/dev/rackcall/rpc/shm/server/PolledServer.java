package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ServerEndpoint;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.rpc.spi.Uninterrupted;
import dev.rackcall.shm.waiting.SpinTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A server behind its listeners: its pollers, handlers and connections, and whether it accepts more of them. Subclasses
 * make connections.
 */
public abstract class PolledServer implements ServerEndpoint {
    private static final long DRAIN_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /**
     * Maximum wait for clients to notice that the server drains; a stopped client never does. A client behind a device
     * that lost a completion looks once a second, and its host may be busy.
     */
    private static final long NOTICE_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** Maximum wait for a client that was greeted and has not taken its connection; it may never do so. */
    private static final long ARRIVAL_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long JOIN_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** After so long without a request the watching thread rests. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long REST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    protected final ServerSpec spec;
    protected final Handlers handlers;
    protected final ConnectionCount connections = new ConnectionCount();
    protected final AccessCheck access;
    /** Null until the server is ready for connections. */
    private volatile Pollers pollers;

    private volatile boolean draining;
    private final long stuckAfterNanos;
    /** When the pollers' handlers were last looked at. */
    private long lastRelief = System.nanoTime();
    /** When a poller was last found awake. */
    private long lastAwake = System.nanoTime();
    /** Whether the watching thread waits until a poller wakes it. */
    private volatile boolean resting;

    protected PolledServer(ServerSpec spec) {
        this.spec = spec;
        this.stuckAfterNanos = spec.threads().stuckAfter().toNanos();
        this.handlers = Handlers.of(spec.threads().dispatch(), spec.threads().waiting());
        this.access = new AccessCheck(spec.trust());
    }

    /**
     * Called before a connection is made.
     *
     * @throws dev.rackcall.rpc.RpcException UNAVAILABLE if the server drains, RESOURCE_EXHAUSTED if all its connections
     *     are taken
     */
    protected final void requireRoom(String channel) {
        if (draining) {
            throw Status.Code.UNAVAILABLE
                    .with("channel %s: its server is shutting down", channel)
                    .asException();
        }
        if (connections.isFull(spec.limits().connections())) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "channel %s: all %d connections are taken; close some, or raise the server's maxConnections",
                            channel, spec.limits().connections())
                    .asException();
        }
    }

    @Override
    public final void drain() {
        // A listener checks this, and counts its new connection, under the same lock.
        synchronized (this) {
            draining = true;
        }
        for (Poller poller : pollers()) {
            poller.post(() -> poller.connections().forEach(ShmServerConnection::drain));
        }
    }

    @Override
    public final boolean awaitDrained(Duration bound) {
        long end = System.nanoTime() + bound.toNanos();
        try (Uninterrupted waits = new Uninterrupted()) {
            awaitArrivals(end, waits);
            // Again at the end: a client may have begun a call before it noticed, and a connection may have moved from
            // one poller to another.
            boolean once = areAll(ShmServerConnection::isIdle, end, waits);
            if (once) {
                long now = System.nanoTime();
                areAll(ShmServerConnection::hasNoMoreCalls, now + Math.min((end - now) / 2, NOTICE_NANOS), waits);
            }
            return once && areAll(ShmServerConnection::isIdle, end, waits);
        }
    }

    /** A remote client may know that it is connected, and open scopes, before a poller has its connection. */
    private void awaitArrivals(long end, Uninterrupted waits) {
        long now = System.nanoTime();
        long last = now + Math.min((end - now) / 4, ARRIVAL_NANOS);
        while (connections.connected() > connectionsOfPollers() && System.nanoTime() - last < 0) {
            waits.rest(DRAIN_POLL_NANOS);
        }
    }

    private int connectionsOfPollers() {
        return pollers().stream().mapToInt(Poller::connectionCount).sum();
    }

    private boolean areAll(Predicate<ShmServerConnection> state, long end, Uninterrupted waits) {
        for (Poller poller : pollers()) {
            while (!areAll(poller, state, Math.max(1, end - System.nanoTime()))) {
                if (System.nanoTime() - end >= 0) {
                    return false;
                }
                waits.rest(DRAIN_POLL_NANOS);
            }
        }
        return true;
    }

    @Override
    public final int connections() {
        return connections.connected();
    }

    @Override
    public final int callsUnderWay() {
        int calls = connections.callsUnderWay();
        for (Poller poller : pollers()) {
            calls += poller.waitingRequests() + (poller.isInHandler() ? 1 : 0);
        }
        return calls;
    }

    protected final boolean isDraining() {
        return draining;
    }

    /** Accepts no more connections. */
    protected final void admitNobody() {
        draining = true;
    }

    /**
     * Ends all connections and the threads that serve them. Called when no thread makes connections or requests relief
     * any more.
     */
    protected final void endCalls() {
        if (pollers != null) {
            pollers.stop();
        }
        handlers.close();
    }

    // ---- the polling threads

    /** Starts the polling threads. {@code gaps} makes each thread's record of the gaps between its requests. */
    protected final void startPollers(Supplier<SpinTime> gaps) {
        pollers = Pollers.start(spec.threads(), gaps, this::isDraining, this::pollerWoken);
    }

    final List<Poller> pollers() {
        Pollers started = pollers;
        return started == null ? List.of() : started.all();
    }

    /** Hands over a connection that has been agreed with its client. Any thread. */
    protected final void add(ShmServerConnection connection) {
        pollers.add(connection);
    }

    /**
     * How long the watching thread may wait until it {@linkplain #watchPollers watches} again: while a poller is awake at
     * most {@code stuckAfter}. Otherwise it waits 100 ms, or 500 ms after two seconds without a request. These wake-ups
     * are the main cost of an idle server.
     */
    protected final long untilNextWatch() {
        if (!pollers.areResting()) {
            lastAwake = System.nanoTime();
            return Math.min(TICK_NANOS, stuckAfterNanos);
        }
        if (System.nanoTime() - lastAwake < QUIET_NANOS) {
            return TICK_NANOS;
        }
        resting = true;
        // Volatile, as is the poller's announcement that it is awake, which precedes its check of `resting`. A poller
        // that
        // is not seen here therefore sees that the thread rests.
        return pollers.areResting() ? REST_NANOS : TICK_NANOS;
    }

    /** A poller has something to do, and its handlers may become stuck. On the polling thread. */
    private void pollerWoken() {
        if (resting) {
            resting = false;
            wakeWatcher();
        }
    }

    /** Ends the watching thread's wait, if it ever rests. Any thread. */
    protected void wakeWatcher() {}

    /** Called after each {@linkplain #untilNextWatch wait}. One thread. */
    protected final void watchPollers() {
        resting = false;
        long now = System.nanoTime();
        pollers.nextSlice();
        if (now - lastRelief >= stuckAfterNanos) {
            lastRelief = now;
            pollers.relieveIfStuck();
        }
        pollers.balance();
    }

    /**
     * Whether all connections of a poller are in that state. The poller's thread decides; false if it does not do so
     * in time.
     */
    static boolean areAll(Poller poller, Predicate<ShmServerConnection> state, long nanos) {
        AtomicBoolean are = new AtomicBoolean();
        CountDownLatch decided = new CountDownLatch(1);
        poller.post(() -> {
            are.set(poller.connections().stream().allMatch(state));
            decided.countDown();
        });
        try (Uninterrupted waits = new Uninterrupted()) {
            return waits.await(nanos, left -> decided.await(left, TimeUnit.NANOSECONDS)) && are.get();
        }
    }

    // ---- for the listeners

    /** Makes a connection, which counts from now on. */
    protected final <T> T counted(Supplier<T> making) {
        connections.comes();
        try {
            return making.get();
        } catch (RuntimeException | Error e) {
            notConnected();
            throw e;
        }
    }

    /** A counted connection could not be made. */
    protected final void notConnected() {
        connections.hangsUp();
        connections.isReleased();
    }

    /** Waits some seconds for a thread that was told to stop, also on an interrupted thread. */
    protected static void join(Thread thread) {
        if (thread.getState() == Thread.State.NEW) {
            // The server did not start.
            return;
        }
        try (Uninterrupted waits = new Uninterrupted()) {
            waits.await(JOIN_NANOS, left -> thread.join(Duration.ofNanos(left)));
        }
    }
}
