package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.spi.Router;
import dev.rackcall.rpc.spi.ServerEndpoint;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/** A started server: closes its endpoint once, also when the process exits. Thread-safe. */
final class RunningServer implements RpcServer {
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);
    /** Time that the calls of an open server have to end when its process exits. */
    private static final Duration EXIT_BOUND = Duration.ofSeconds(1);

    private final ServerEndpoint endpoint;
    private final List<String> channels;
    private final Optional<Router.Announcement> announcement;
    private final CountDownLatch terminated = new CountDownLatch(1);
    private final Thread exitHook = new Thread(() -> shutdown(EXIT_BOUND), "rackcall-exit");
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean drained;

    private RunningServer(ServerEndpoint endpoint, List<String> channels, Optional<Router.Announcement> announcement) {
        this.endpoint = endpoint;
        this.channels = channels;
        this.announcement = announcement;
    }

    static RunningServer start(
            ServerEndpoint endpoint, List<String> channels, Optional<Router.Announcement> announcement) {
        RunningServer server = new RunningServer(endpoint, channels, announcement);
        Runtime.getRuntime().addShutdownHook(server.exitHook);
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
    public boolean shutdown(Duration bound) {
        if (!closed.compareAndSet(false, true)) {
            return isTerminatedWithin(bound) && drained;
        }
        try {
            announcement.ifPresent(Router.Announcement::close);
            endpoint.drain();
            drained = endpoint.awaitDrained(bound);
            endpoint.close();
        } finally {
            terminated.countDown();
            forgetExitHook();
        }
        return drained;
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
                + (terminated.getCount() == 0 ? ", closed" : "") + ")";
    }

    private boolean isTerminatedWithin(Duration bound) {
        try {
            return awaitTermination(bound);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void forgetExitHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(exitHook);
        } catch (IllegalStateException e) {
            // The process is exiting, and this may be the hook itself.
            return;
        }
    }
}
