package dev.rackcall.spring;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Scope;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Out of service while the server drains or is stopped; down after it has failed, and while a channel finds no server.
 * All channels without a connection try to connect at once, because nothing else may call before this application is
 * healthy. A check waits for all of them together for at most {@link #BOUND}. An attempt that takes longer goes on, and
 * later checks wait for the same attempt. The channel's connect timeout ends it, or, if the channel finds its servers in
 * a directory, the timeout of its calls. Thread-safe.
 */
final class RackcallHealth extends AbstractHealthIndicator {
    /** Shorter than the timeouts of common probes, and so than a channel's connect timeout. */
    private static final Duration BOUND = Duration.ofSeconds(2);

    /** Connecting waits in native code, where a virtual thread would occupy a carrier. */
    private static final ThreadFactory THREADS =
            Thread.ofPlatform().daemon().name("rackcall-health").factory();

    private final RpcServerLifecycle server;
    private final RackcallChannels channels;
    /** The attempts in progress: a silent server occupies one thread, however often its channel is checked. */
    private final Map<RpcChannel, CompletableFuture<Optional<Status>>> attempts = new ConcurrentHashMap<>();

    RackcallHealth(RpcServerLifecycle server, RackcallChannels channels) {
        super("the states of Rackcall's server and channels are unknown");
        this.server = server;
        this.channels = channels;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) throws ExecutionException {
        Optional<RpcServer> running = server.server();
        Map<RpcChannel, CompletableFuture<Optional<Status>>> asked = new HashMap<>();
        channels.all().forEach(channel -> asked.put(channel, connect(channel)));
        long end = System.nanoTime() + BOUND.toNanos();
        Map<String, String> states = new TreeMap<>();
        boolean reachesAll = true;
        for (Map.Entry<RpcChannel, CompletableFuture<Optional<Status>>> each : asked.entrySet()) {
            RpcChannel channel = each.getKey();
            Optional<Status> failure = await(channel, each.getValue(), end);
            states.put(
                    channel.name(),
                    failure.map(Status::toString).orElse(channel.state().name()));
            reachesAll &= failure.isEmpty();
        }
        RpcServer.State serving = running.map(RpcServer::state).orElse(RpcServer.State.SERVING);
        if (serving == RpcServer.State.CLOSED || !reachesAll) {
            health.down();
        } else if (serving == RpcServer.State.DRAINING || (running.isEmpty() && server.hasHandlers())) {
            health.outOfService();
        } else {
            health.up();
        }
        running.ifPresent(each -> health.withDetail("server", each.state().name())
                .withDetail("serves", each.channels())
                .withDetail("connections", each.connections()));
        if (!states.isEmpty()) {
            health.withDetail("channels", states);
        }
    }

    /** Connects if there is no connection. The result is empty if there is one then. */
    private CompletableFuture<Optional<Status>> connect(RpcChannel channel) {
        return channel.state() == RpcChannel.State.READY
                ? CompletableFuture.completedFuture(Optional.empty())
                : attempts.computeIfAbsent(
                        channel,
                        _ -> CompletableFuture.supplyAsync(
                                () -> tryToConnect(channel),
                                task -> THREADS.newThread(task).start()));
    }

    private Optional<Status> tryToConnect(RpcChannel channel) {
        try (Scope _ = channel.newScope()) {
            return Optional.empty();
        } catch (RpcException e) {
            return Optional.of(e.status());
        } finally {
            attempts.remove(channel);
        }
    }

    /** @param end nanoTime */
    private static Optional<Status> await(RpcChannel channel, CompletableFuture<Optional<Status>> attempt, long end)
            throws ExecutionException {
        try {
            return attempt.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return Optional.of(Status.Code.UNAVAILABLE.with(
                    "channel %s: no server has answered within %s; the attempt goes on", channel.name(), BOUND));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of(Status.Code.CANCELLED.with(
                    "channel %s: the health check was interrupted before a server answered", channel.name()));
        }
    }
}
