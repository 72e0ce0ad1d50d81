package dev.rackcall.tracing;

import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.ServerInterceptor;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Gives each call a span at its client and one at its server.
 *
 * <pre>{@code
 * RpcChannel.builder("/shop/search").interceptor(CallTracing.client(telemetry)).open();
 * RpcServer.builder().service(Search.class, search).interceptor(CallTracing.server(telemetry)).start();
 * }</pre>
 *
 * <p>A span is named after the method, as {@code shop/search/find}, and ends with the call: that of a stream when the
 * stream is over, that of an asynchronous call when its answer has arrived. It has the attributes {@code rpc.system},
 * {@code rpc.service}, {@code rpc.method}, {@code rackcall.status} and {@code rackcall.transport} (a {@link
 * dev.rackcall.rpc.Route.Kind}). The server's span is current while the handler runs, so that spans which it begins, and
 * calls which it makes, become its children. The propagators of the given instance choose the headers;
 * one that {@link Metadata} cannot carry is left out, with a warning for the first.
 *
 * <p>The interceptors are {@code NONE}, for good, if the instance makes no spans and carries no contexts when they are made:
 * {@link OpenTelemetry#noop}, or {@code GlobalOpenTelemetry.get()} before the global instance was set. Set it first;
 * OpenTelemetry refuses {@code set} once {@code get()} has returned an unset instance.
 */
public final class CallTracing {
    private static final Logger LOG = LoggerFactory.getLogger(CallTracing.class);
    /** Whether a header was left out before; each call may have the same one. */
    private static final AtomicBoolean WARNED = new AtomicBoolean();

    private static final String LIBRARY = "dev.rackcall";
    private static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("rpc.system");
    private static final AttributeKey<String> SERVICE = AttributeKey.stringKey("rpc.service");
    private static final AttributeKey<String> METHOD = AttributeKey.stringKey("rpc.method");

    private CallTracing() {}

    /** Whether it makes spans, or at least carries contexts on. An unset global instance wraps one that does neither. */
    private static boolean isEnabled(OpenTelemetry telemetry) {
        return telemetry.getTracerProvider() != TracerProvider.noop()
                || telemetry.getPropagators().getTextMapPropagator() != TextMapPropagator.noop();
    }

    /** A span for each call of every channel to which it is added; its parent is the caller's current span. */
    public static ClientInterceptor client(OpenTelemetry telemetry) {
        if (!isEnabled(telemetry)) {
            return ClientInterceptor.NONE;
        }
        Tracer tracer = telemetry.getTracer(LIBRARY);
        TextMapPropagator propagator = telemetry.getPropagators().getTextMapPropagator();
        return (call, next) -> {
            Span span = start(tracer, call.method(), SpanKind.CLIENT, Context.current());
            call.onEnd(new SpanEnd(span, SpanKind.CLIENT));
            Context context = Context.current().with(span);
            propagator.inject(context, call, CallTracing::set);
            try (Scope _ = context.makeCurrent()) {
                next.run();
            }
        };
    }

    /** A span for each call of every server to which it is added; its parent is the caller's span, if it has sent one. */
    public static ServerInterceptor server(OpenTelemetry telemetry) {
        if (!isEnabled(telemetry)) {
            return ServerInterceptor.NONE;
        }
        Tracer tracer = telemetry.getTracer(LIBRARY);
        TextMapPropagator propagator = telemetry.getPropagators().getTextMapPropagator();
        return (call, next) -> {
            // Not the thread's own context: the server's threads serve the calls of many traces.
            Context parent = propagator.extract(Context.root(), call.headers(), HeaderGetter.INSTANCE);
            Span span = start(tracer, call.method(), SpanKind.SERVER, parent);
            SpanEnd end = new SpanEnd(span, SpanKind.SERVER);
            end.onBegin(call.transport());
            call.onEnd(end);
            try (Scope _ = parent.with(span).makeCurrent()) {
                next.run();
            }
        };
    }

    private static Span start(Tracer tracer, MethodDescriptor method, SpanKind kind, Context parent) {
        String service = method.service().substring(1);
        return tracer.spanBuilder(service + "/" + method.name())
                .setSpanKind(kind)
                .setParent(parent)
                .setAttribute(SYSTEM, "rackcall")
                .setAttribute(SERVICE, service)
                .setAttribute(METHOD, method.name())
                .startSpan();
    }

    /** A header that metadata cannot carry is left out: tracing must not fail a call. */
    private static void set(ClientInterceptor.Call call, String key, String value) {
        try {
            // Propagators of other vendors use capital letters, as HTTP allows.
            call.addHeaders(Metadata.of(key.toLowerCase(Locale.ROOT), value));
        } catch (IllegalArgumentException e) {
            LOG.atLevel(WARNED.getAndSet(true) ? Level.DEBUG : Level.WARN)
                    .log("{}: the call travels without a header of its trace: {}", call.method(), e.getMessage());
        }
    }
}
