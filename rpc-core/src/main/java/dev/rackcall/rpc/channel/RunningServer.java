package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.spi.Router;
import dev.rackcall.rpc.spi.ServerEndpoint;
import dev.rackcall.rpc.spi.Uninterrupted;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * A started server. Shuts down only when the program asks for it: the exit of the process does not end it early. At
 * exit, the clean-up of the runtime directory removes its files; its entry in a directory is withdrawn separately.
 * Thread-safe.
 */
final class RunningServer implements RpcServer {
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);
    /** How long a server of a pool must have had no calls, while the process exits, to be closed. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** How long calls keep a server of a pool open, while the process exits, if nothing shuts it down. */
    private static final Duration EXIT_BOUND = Duration.ofSeconds(10);
    /** How long calls that begin last, while the process exits, may take. */
    private static final Duration LAST_CALLS_BOUND = Duration.ofSeconds(1);

    private static final long EXIT_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final ServerEndpoint endpoint;
    private final List<String> channels;
    private final Optional<Router.Announcement> announcement;
    private final CountDownLatch terminated = new CountDownLatch(1);
    private final Optional<Thread> exitHook;
    private final AtomicBoolean closed = new AtomicBoolean();
    /** When a shutdown stops waiting for calls; any caller of {@link #shutdown} may postpone it. */
    private final AtomicLong drainUntil = new AtomicLong(System.nanoTime());

    private volatile boolean drained;

    private RunningServer(
            ServerEndpoint endpoint,
            List<String> channels,
            Optional<Router.Announcement> announcement,
            boolean isInPool) {
        this.endpoint = endpoint;
        this.channels = channels;
        this.announcement = announcement;
        // An announcement only names the server: clients that are connected stay connected.
        Optional<Runnable> work = isInPool ? Optional.of(this::closeAtExit) : announcement.map(entry -> entry::close);
        this.exitHook = work.map(each -> new Thread(each, "rackcall-exit"));
    }

    /**
     * Begins its life.
     *
     * @param isInPool whether its connections lie in a pool, whose memory outlives this process. Such a server closes
     *     itself at exit, but not before its calls have ended, or the program's exit hooks have shut it down
     */
    static RunningServer start(
            ServerEndpoint endpoint,
            List<String> channels,
            Optional<Router.Announcement> announcement,
            boolean isInPool) {
        RunningServer server = new RunningServer(endpoint, channels, announcement, isInPool);
        server.exitHook.ifPresent(Runtime.getRuntime()::addShutdownHook);
        endpoint.onLost(() -> Thread.ofPlatform().name("rackcall-lost").start(server::close));
        return server;
    }

    @Override
    public List<String> channels() {
        return channels;
    }

    @Override
    public Optional<URI> address() {
        return addresses().stream().findFirst();
    }

    @Override
    public List<URI> addresses() {
        return endpoint.addresses();
    }

    @Override
    public int connections() {
        return endpoint.connections();
    }

    @Override
    public int callsUnderWay() {
        return endpoint.callsUnderWay();
    }

    @Override
    public State state() {
        if (terminated.getCount() == 0) {
            return State.CLOSED;
        }
        return closed.get() ? State.DRAINING : State.SERVING;
    }

    @Override
    public boolean shutdown(Duration bound) {
        long until = System.nanoTime() + bound.toNanos();
        drainUntil.accumulateAndGet(until, (one, other) -> one - other > 0 ? one : other);
        if (!closed.compareAndSet(false, true)) {
            return isTerminatedWithin(bound) && drained;
        }
        // An interrupted thread, such as one of an executor that was told to stop, can shut a server down, too.
        try (Uninterrupted whole = new Uninterrupted()) {
            end(whole);
        }
        return drained;
    }

    private void end(Uninterrupted whole) {
        try {
            announcement.ifPresent(Router.Announcement::close);
            endpoint.drain();
            drained = awaitDrained();
            // An interrupt during that wait must not shorten this one.
            whole.take();
            endpoint.close();
        } finally {
            terminated.countDown();
            forgetExitHook();
        }
    }

    /**
     * Keeps serving, because one of the program's exit hooks may shut the server down later; without such a hook,
     * only calls keep it open. Nothing can run after the last hook, so this one has to guess whether others are still
     * to run.
     */
    private void closeAtExit() {
        long end = System.nanoTime() + EXIT_BOUND.toNanos();
        long quietSince = System.nanoTime();
        long now = quietSince;
        while (!closed.get() && now - end < 0 && now - quietSince < QUIET_NANOS) {
            LockSupport.parkNanos(EXIT_POLL_NANOS);
            now = System.nanoTime();
            if (callsUnderWay() > 0) {
                quietSince = now;
            }
        }
        shutdown(LAST_CALLS_BOUND);
        // If it was not this call that ended it, a thread that is not an exit hook may still be closing the server.
        isTerminatedWithin(Duration.ofNanos(Math.max(0, drainUntil.get() - System.nanoTime()))
                .plus(CLOSE_BOUND));
    }

    /** Waits until no call is in flight, for as long as the most patient caller of {@link #shutdown} allows. */
    private boolean awaitDrained() {
        while (true) {
            long until = drainUntil.get();
            if (endpoint.awaitDrained(Duration.ofNanos(Math.max(0, until - System.nanoTime())))) {
                return true;
            }
            if (drainUntil.get() == until) {
                return false;
            }
        }
    }

    @Override
    public void awaitTermination() throws InterruptedException {
        terminated.await();
    }

    @Override
    public boolean awaitTermination(Duration bound) throws InterruptedException {
        return terminated.await(bound.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public void close() {
        shutdown(CLOSE_BOUND);
    }

    @Override
    public String toString() {
        return "RpcServer(" + String.join(", ", channels)
                + addresses().stream().map(uri -> ", " + uri).collect(Collectors.joining())
                + (state() == State.SERVING ? "" : ", " + state().name().toLowerCase(Locale.ROOT)) + ")";
    }

    private boolean isTerminatedWithin(Duration bound) {
        try (Uninterrupted waits = new Uninterrupted()) {
            return waits.await(bound.toNanos(), left -> terminated.await(left, TimeUnit.NANOSECONDS));
        }
    }

    private void forgetExitHook() {
        try {
            exitHook.ifPresent(Runtime.getRuntime()::removeShutdownHook);
        } catch (IllegalStateException e) {
            // The process is exiting, and this may be the hook itself.
            return;
        }
    }
}
