package dev.rackcall.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.Await;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the page on metrics shows. */
class MetricsPageTest {
    @TempDir
    private Path folder;

    private final MeterRegistry registry = new SimpleMeterRegistry();

    @Test
    void shouldMeasureCallsWithPercentiles() {
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
                return id.getName().startsWith("rackcall.")
                        ? DistributionStatisticConfig.builder()
                                .percentiles(0.5, 0.99)
                                .build()
                                .merge(config)
                        : config;
            }
        });
        CallMetrics metrics = new CallMetrics(registry);
        RpcServer server = RpcServer.builder()
                .runtimeFolder(folder)
                .service(Shop.class, new Shop.OneGood())
                .meter(metrics)
                .start();
        RpcChannel channel = RpcChannel.builder("/test/shop")
                .runtimeFolder(folder)
                .meter(metrics)
                .open();
        new ServerMetrics(server).bindTo(registry);
        new ChannelMetrics(channel).bindTo(registry);
        new IsolationMetrics().bindTo(registry);
        new WaitMetrics().bindTo(registry);
        try (server;
                channel) {
            assertThat(channel.stub(Shop.class).price("tea")).isEqualTo(350);
            for (String side : new String[] {"client", "server"}) {
                Await.until("the call's timer", () -> hasPercentiles("rackcall." + side + ".calls.duration"));
            }
            assertThat(registry.get("rackcall.channel.ready").gauge().value()).isEqualTo(1);
            assertThat(registry.get("rackcall.server.serving").gauge().value()).isEqualTo(1);
        }
    }

    private boolean hasPercentiles(String timer) {
        return registry.find(timer).timers().stream()
                .anyMatch(each -> each.count() == 1 && each.takeSnapshot().percentileValues().length == 2);
    }
}
