package dev.rackcall.metrics;

import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.ServerInterceptor;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Times the calls of channels and servers, and counts their bytes.
 *
 * <pre>{@code
 * RpcChannel.builder("/shop/search").interceptor(CallMetrics.client(registry)).open();
 * RpcServer.builder().service(Search.class, search).interceptor(CallMetrics.server(registry)).start();
 * }</pre>
 *
 * <p>The timers {@code rackcall.client.calls} and {@code rackcall.server.calls} have the tags {@code service}, {@code
 * method}, {@code status} (a {@link dev.rackcall.rpc.Status.Code}) and {@code transport} (a {@link
 * dev.rackcall.rpc.Route.Kind}; {@code none} if the call ended before it had a connection). A call takes from its
 * interceptor until it ends: a stream until it is over, an asynchronous call until its answer has arrived. The gauges
 * {@code rackcall.client.calls.active} and {@code rackcall.server.calls.active} count calls that have not ended, by
 * {@code service} and {@code method}. The counter {@code rackcall.client.bytes} also has the tag {@code way}: {@code
 * copied} or {@code pointer}, as a {@link dev.rackcall.rpc.ByteObserver} gets them. The counter {@code
 * rackcall.server.bytes} has the same tags, and counts only {@code copied}.
 *
 * <p>A call that begins while a composite registry has no registries is not measured, and costs what it does without
 * the interceptor. Registries may be added later.
 *
 * <p>Percentiles are a setting of the registry: a {@link io.micrometer.core.instrument.config.MeterFilter} for names that
 * begin with {@code rackcall.}.
 */
public final class CallMetrics {
    private CallMetrics() {}

    /** Times the calls, and counts the bytes, of every channel to which it is added. */
    public static ClientInterceptor client(MeterRegistry registry) {
        return new TimedClient(new MethodMeters.OfAll(registry, "rackcall.client.calls"));
    }

    /** Times the calls, and counts the bytes copied, of every server to which it is added. */
    public static ServerInterceptor server(MeterRegistry registry) {
        return new TimedServer(new MethodMeters.OfAll(registry, "rackcall.server.calls"));
    }

    private record TimedClient(MethodMeters.OfAll meters) implements ClientInterceptor {
        @Override
        public boolean isEnabled() {
            return meters.areHeard();
        }

        @Override
        public void around(Call call, Runnable next) {
            MethodMeters method = meters.of(call.method());
            call.onEnd(new TimedCall(method, null));
            call.onBytes(method.clientBytes());
            next.run();
        }
    }

    private record TimedServer(MethodMeters.OfAll meters) implements ServerInterceptor {
        @Override
        public boolean isEnabled() {
            return meters.areHeard();
        }

        @Override
        public void around(RpcContext call, Runnable next) {
            MethodMeters method = meters.of(call.method());
            call.onEnd(new TimedCall(method, call.transport()));
            call.onBytes(method.serverBytes());
            next.run();
        }
    }
}
