package dev.rackcall.metrics;

import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.MethodDescriptor;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Counts and times the calls of channels and servers, and counts their bytes.
 *
 * <pre>{@code
 * CallMetrics metrics = new CallMetrics(registry);
 * RpcChannel.builder("/shop/search").meter(metrics).open();
 * RpcServer.builder().service(Search.class, search).meter(metrics).start();
 * }</pre>
 *
 * <p>The counters {@code rackcall.client.calls} and {@code rackcall.server.calls} count calls that have ended. They have
 * the tags {@code service}, {@code method}, {@code status} (a {@link dev.rackcall.rpc.Status.Code}) and {@code
 * transport} (a {@link dev.rackcall.rpc.Route.Kind}; {@code none} if the call ended before it had a connection). The
 * timers {@code rackcall.client.calls.duration} and {@code rackcall.server.calls.duration} have the same tags. A call
 * takes from its beginning until it ends: a stream until it is over, an asynchronous call until its answer has arrived.
 * The gauges {@code rackcall.client.calls.active} and {@code rackcall.server.calls.active} count calls that have not
 * ended, by {@code service} and {@code method}. The counter {@code rackcall.client.bytes} also has the tag {@code way}:
 * {@code copied} or {@code pointer}, as a {@link dev.rackcall.rpc.ByteObserver} gets them. The counter {@code
 * rackcall.server.bytes} has the same tags, and counts only {@code copied}.
 *
 * <p>All calls of a client are counted, and all calls that reach their handler at a server. Calls of a method are all
 * timed if they take over 10 us on average; else one in 16 is, chosen by its number, because reading the clock would take
 * a large part of such a call. The transport of a call that is not timed is that of its connection when it began.
 *
 * <p>A call that begins while a composite registry has no registries is not measured. Registries may be added later.
 *
 * <p>Percentiles are a setting of the registry: a {@link io.micrometer.core.instrument.config.MeterFilter} for names that
 * begin with {@code rackcall.}.
 */
public final class CallMetrics implements CallMeter {
    private final MeterRegistry registry;
    /** Null if the registry is no composite. */
    private final CompositeMeterRegistry composite;

    private final Map<MethodDescriptor, MeasuredMethod> clients = new ConcurrentHashMap<>();
    private final Map<MethodDescriptor, MeasuredMethod> servers = new ConcurrentHashMap<>();

    public CallMetrics(MeterRegistry registry) {
        this.registry = registry;
        this.composite = registry instanceof CompositeMeterRegistry several ? several : null;
    }

    /** Whether the registry records anything: a composite without registries drops what it is told. */
    @Override
    public boolean isEnabled() {
        return composite == null || !composite.getRegistries().isEmpty();
    }

    @Override
    public OfMethod atClient(MethodDescriptor method) {
        return clients.computeIfAbsent(method, each -> new MeasuredMethod(registry, "rackcall.client", each, true));
    }

    /** A server knows nothing of bytes by pointer. */
    @Override
    public OfMethod atServer(MethodDescriptor method) {
        return servers.computeIfAbsent(method, each -> new MeasuredMethod(registry, "rackcall.server", each, false));
    }
}
