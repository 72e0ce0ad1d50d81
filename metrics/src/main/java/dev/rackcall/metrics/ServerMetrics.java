package dev.rackcall.metrics;

import dev.rackcall.rpc.RpcServer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * The state of one server, with the tag {@code channels}: the gauges {@code rackcall.server.connections}, {@code
 * rackcall.server.calls.pending} (calls that run or wait for a polling thread, see {@link RpcServer#callsUnderWay}) and
 * {@code rackcall.server.serving}, 1 while it takes new clients. Servers of the same channels share their gauges, which
 * show the sums; a server that has ended counts as 0. The meters do not keep the server in memory.
 */
public final class ServerMetrics implements MeterBinder {
    private static final SameTag.OfAll<RpcServer> BOUND = new SameTag.OfAll<>();

    private final RpcServer server;

    public ServerMetrics(RpcServer server) {
        this.server = server;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        String channels = String.join(",", server.channels());
        Tags tags = Tags.of("channels", channels);
        BOUND.add(registry, channels, server, servers -> register(registry, tags, servers));
    }

    private static void register(MeterRegistry registry, Tags tags, SameTag<RpcServer> servers) {
        Gauge.builder("rackcall.server.connections", servers, all -> all.sum(RpcServer::connections))
                .description("Clients that are connected")
                .tags(tags)
                .register(registry);
        Gauge.builder("rackcall.server.calls.pending", servers, all -> all.sum(RpcServer::callsUnderWay))
                .description("Calls that have not ended, and those that wait for a polling thread")
                .tags(tags)
                .register(registry);
        Gauge.builder(
                        "rackcall.server.serving",
                        servers,
                        all -> all.sum(each -> each.state() == RpcServer.State.SERVING ? 1 : 0))
                .description("Servers that take new clients")
                .tags(tags)
                .register(registry);
    }
}
