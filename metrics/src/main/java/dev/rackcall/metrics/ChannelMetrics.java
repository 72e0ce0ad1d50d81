package dev.rackcall.metrics;

import dev.rackcall.rpc.RpcChannel;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * The state of one channel, with the tag {@code channel}: the gauge {@code rackcall.channel.ready} is 1 while a server
 * takes its calls, and the counter {@code rackcall.channel.reconnects} counts how often it became ready again. The
 * meters do not keep the channel in memory.
 */
public final class ChannelMetrics implements MeterBinder {
    private final RpcChannel channel;

    public ChannelMetrics(RpcChannel channel) {
        this.channel = channel;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        Gauge.builder("rackcall.channel.ready", channel, each -> each.state() == RpcChannel.State.READY ? 1 : 0)
                .description("Whether a server takes the channel's calls")
                .tag("channel", channel.name())
                .register(registry);
        Counter reconnects = Counter.builder("rackcall.channel.reconnects")
                .description("How often the channel found a server again")
                .tag("channel", channel.name())
                .register(registry);
        channel.onStateChange(state -> {
            if (state == RpcChannel.State.READY) {
                reconnects.increment();
            }
        });
    }
}
