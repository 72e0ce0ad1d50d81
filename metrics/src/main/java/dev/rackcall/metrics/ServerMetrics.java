package dev.rackcall.metrics;

import dev.rackcall.rpc.RpcServer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * The state of one server, with the tag {@code channels}: the gauges {@code rackcall.server.connections}, {@code
 * rackcall.server.calls.pending} (calls that run or wait for a polling thread, see {@link RpcServer#callsUnderWay}) and
 * {@code rackcall.server.serving}, 1 while it takes new clients. The meters do not keep the server in memory.
 */
public final class ServerMetrics implements MeterBinder {
    private final RpcServer server;

    public ServerMetrics(RpcServer server) {
        this.server = server;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Tags tags = Tags.of("channels", String.join(",", server.channels()));
        Gauge.builder("rackcall.server.connections", server, RpcServer::connections)
                .description("Clients that are connected")
                .tags(tags)
                .register(registry);
        Gauge.builder("rackcall.server.calls.pending", server, RpcServer::callsUnderWay)
                .description("Calls that have not ended, and those that wait for a polling thread")
                .tags(tags)
                .register(registry);
        Gauge.builder("rackcall.server.serving", server, each -> each.state() == RpcServer.State.SERVING ? 1 : 0)
                .description("Whether the server takes new clients")
                .tags(tags)
                .register(registry);
    }
}
