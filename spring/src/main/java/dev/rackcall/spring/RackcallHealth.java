package dev.rackcall.spring;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.Scope;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Out of service while the server drains or is stopped; down after it has failed, and while a channel finds no server.
 * A channel without a connection tries to connect, for at most its connect timeout: nothing else may call before this
 * application is healthy.
 */
final class RackcallHealth extends AbstractHealthIndicator {
    private final RpcServerLifecycle server;
    private final RackcallChannels channels;

    RackcallHealth(RpcServerLifecycle server, RackcallChannels channels) {
        super("the states of Rackcall's server and channels are unknown");
        this.server = server;
        this.channels = channels;
    }

    @Override
    protected void doHealthCheck(Health.Builder health) {
        Optional<RpcServer> running = server.server();
        List<RpcChannel> open = channels.all();
        Map<String, String> states = new TreeMap<>();
        boolean reachesAll = true;
        for (RpcChannel channel : open) {
            Optional<Status> failure = connect(channel);
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

    /** Connects if there is no connection; empty if there is one then. */
    private static Optional<Status> connect(RpcChannel channel) {
        if (channel.state() == RpcChannel.State.READY) {
            return Optional.empty();
        }
        try (Scope _ = channel.newScope()) {
            return Optional.empty();
        } catch (RpcException e) {
            return Optional.of(e.status());
        }
    }
}
