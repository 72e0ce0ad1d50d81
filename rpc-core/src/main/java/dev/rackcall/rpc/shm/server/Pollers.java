package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.spi.LogLimit;
import dev.rackcall.rpc.spi.ServerSpec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The polling threads of one server, over which its connections are spread. */
public final class Pollers {
    private static final Logger LOG = LoggerFactory.getLogger(Pollers.class);
    private static final LogLimit LOG_LIMIT = new LogLimit();
    private static final long DRAIN_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long STOP_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final ServerSpec spec;
    private final List<Poller> all = new CopyOnWriteArrayList<>();

    Pollers(ServerSpec spec) {
        this.spec = spec;
    }

    public void start() {
        for (int i = 0; i < spec.pollers(); i++) {
            all.add(Poller.start(spec.waiting(), "rackcall-poll-" + i));
        }
    }

    /** The one with the fewest connections. */
    public Poller quietest() {
        Poller quietest = all.getFirst();
        for (Poller poller : all) {
            if (poller.connectionCount() < quietest.connectionCount()) {
                quietest = poller;
            }
        }
        return quietest;
    }

    /** Handlers that the polling threads are in now. */
    int handlersUnderWay() {
        int count = 0;
        for (Poller poller : all) {
            count += poller.isInHandler() ? 1 : 0;
        }
        return count;
    }

    /** Requests that wait for the polling threads, as each has counted them last. */
    int waitingRequests() {
        int count = 0;
        for (Poller poller : all) {
            count += poller.waitingRequests();
        }
        return count;
    }

    public boolean isAnyAwake() {
        return all.stream().anyMatch(Poller::isAwake);
    }

    /** To be called every {@code stuckAfter} while any is awake. */
    public void relieveIfStuck() {
        for (Poller poller : all) {
            try {
                poller.relieveIfStuck();
            } catch (RuntimeException | Error e) {
                if (LOG_LIMIT.allows()) {
                    LOG.error(
                            "no thread can be started that polls on beside a handler that has not returned; its other clients wait{}",
                            LOG_LIMIT.skipped(),
                            e);
                }
            }
        }
    }

    /** Tells all clients to connect elsewhere for further calls. */
    void drain() {
        for (Poller poller : all) {
            poller.post(() -> poller.connections().forEach(ShmServerConnection::drain));
        }
    }

    /** Waits until no call is under way; returns whether that is so within the bound. */
    boolean awaitDrained(Duration bound) {
        long end = System.nanoTime() + bound.toNanos();
        for (Poller poller : all) {
            while (!isDrained(poller, Math.max(1, end - System.nanoTime()))) {
                if (System.nanoTime() - end >= 0) {
                    return false;
                }
                LockSupport.parkNanos(DRAIN_POLL_NANOS);
            }
        }
        return true;
    }

    /** Whether no request waits at a poller and no call is under way; asked of its thread, false if that does not answer in time. */
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

    /** Ends all threads and connections; the caller asks for no more relief. */
    void stop() {
        all.forEach(poller -> poller.stop(STOP_NANOS, spec.stuckAfter()));
    }
}
