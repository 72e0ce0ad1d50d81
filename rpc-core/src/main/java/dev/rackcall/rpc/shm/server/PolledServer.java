package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.rpc.spi.ServerEndpoint;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.waiting.SpinTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * A server behind its listeners: its pollers, handlers and connections, and whether it accepts more of them. Subclasses
 * make connections.
 */
public abstract class PolledServer implements ServerEndpoint {
    private static final LimitedLog LOG = LimitedLog.of(PolledServer.class);
    private static final long DRAIN_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long STOP_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long JOIN_MILLIS = TimeUnit.SECONDS.toMillis(5);

    protected final ServerSpec spec;
    protected final Handlers handlers;
    protected final ConnectionCount connections = new ConnectionCount();
    protected final AccessCheck access;
    private final List<Poller> pollers = new CopyOnWriteArrayList<>();
    private volatile boolean draining;

    protected PolledServer(ServerSpec spec) {
        this.spec = spec;
        this.handlers = Handlers.of(spec.threads().dispatch());
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
        draining = true;
        for (Poller poller : pollers) {
            poller.post(() -> poller.connections().forEach(ShmServerConnection::drain));
        }
    }

    @Override
    public final boolean awaitDrained(Duration bound) {
        long end = System.nanoTime() + bound.toNanos();
        for (Poller poller : pollers) {
            while (!isDrained(poller, Math.max(1, end - System.nanoTime()))) {
                if (System.nanoTime() - end >= 0) {
                    return false;
                }
                LockSupport.parkNanos(DRAIN_POLL_NANOS);
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
        for (Poller poller : pollers) {
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
        pollers.forEach(poller -> poller.stop(STOP_NANOS, spec.threads().stuckAfter()));
        handlers.close();
    }

    // ---- the polling threads

    /** Starts the polling threads. {@code gaps} makes each thread's record of the gaps between its requests. */
    protected final void startPollers(Supplier<SpinTime> gaps) {
        for (int i = 0; i < spec.threads().pollers(); i++) {
            pollers.add(Poller.start(spec.threads().waiting(), gaps.get(), "rackcall-poll-" + i));
        }
    }

    /** The poller with the fewest connections. */
    protected final Poller quietest() {
        Poller quietest = pollers.getFirst();
        for (Poller poller : pollers) {
            if (poller.connectionCount() < quietest.connectionCount()) {
                quietest = poller;
            }
        }
        return quietest;
    }

    protected final boolean isAnyAwake() {
        return pollers.stream().anyMatch(Poller::isAwake);
    }

    /** Called every {@code stuckAfter} while any poller is awake. */
    protected final void relieveIfStuck() {
        for (Poller poller : pollers) {
            try {
                poller.relieveIfStuck();
            } catch (RuntimeException | Error e) {
                LOG.error(
                        "no thread can be started that polls on beside a handler that has not returned; its other clients wait",
                        e);
            }
        }
    }

    /**
     * Whether no request waits at a poller and no call is in flight. The poller's thread decides; false if it does not
     * do so in time.
     */
    static boolean isDrained(Poller poller, long nanos) {
        CompletableFuture<Boolean> drained = new CompletableFuture<>();
        poller.post(() -> drained.complete(poller.connections().stream().allMatch(ShmServerConnection::isIdle)));
        try {
            return drained.get(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } catch (ExecutionException | TimeoutException e) {
            return false;
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

    /** Waits some seconds for a thread that was told to stop. */
    protected static void join(Thread thread) {
        try {
            thread.join(JOIN_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
