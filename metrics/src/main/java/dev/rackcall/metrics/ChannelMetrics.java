package dev.rackcall.metrics;

import dev.rackcall.rpc.RpcChannel;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The state of one channel, with the tag {@code channel}: the gauge {@code rackcall.channel.ready} is 1 while a server
 * takes its calls, and the counter {@code rackcall.channel.reconnects} counts how often it became ready again. Channels
 * of the same name share these meters, which show the sums; a channel that was closed counts as 0. The meters do not
 * keep the channel in memory.
 */
public final class ChannelMetrics implements MeterBinder {
    private static final SameTag.OfAll<RpcChannel> BOUND = new SameTag.OfAll<>();

    private final RpcChannel channel;

    public ChannelMetrics(RpcChannel channel) {
        this.channel = channel;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        if (!BOUND.add(registry, channel.name(), channel, channels -> register(registry, channel.name(), channels))) {
            return;
        }
        Counter reconnects = Counter.builder("rackcall.channel.reconnects")
                .description("How often the channel found a server again")
                .tag("channel", channel.name())
                .register(registry);
        // A channel that was opened before there was a server connects for the first time later.
        AtomicBoolean wasReady = new AtomicBoolean(channel.state() == RpcChannel.State.READY);
        channel.onStateChange(state -> {
            if (state == RpcChannel.State.READY && wasReady.getAndSet(true)) {
                reconnects.increment();
            }
        });
    }

    private static void register(MeterRegistry registry, String name, SameTag<RpcChannel> channels) {
        Gauge.builder(
                        "rackcall.channel.ready",
                        channels,
                        all -> all.sum(each -> each.state() == RpcChannel.State.READY ? 1 : 0))
                .description("Channels whose calls a server takes")
                .tag("channel", name)
                .register(registry);
    }
}
