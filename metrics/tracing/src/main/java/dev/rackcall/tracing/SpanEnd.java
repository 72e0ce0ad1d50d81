package dev.rackcall.tracing;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import java.util.EnumSet;
import java.util.Set;

/** Ends the span of one call with what the call's end says. */
final class SpanEnd implements CallObserver {
    private static final AttributeKey<String> STATUS = AttributeKey.stringKey("rackcall.status");
    private static final AttributeKey<String> TRANSPORT = AttributeKey.stringKey("rackcall.transport");

    /** The rest are answers that the caller asked for, as OpenTelemetry's conventions for gRPC have it. */
    private static final Set<Status.Code> ERRORS_OF_SERVERS = EnumSet.of(
            Status.Code.UNKNOWN,
            Status.Code.DEADLINE_EXCEEDED,
            Status.Code.UNIMPLEMENTED,
            Status.Code.INTERNAL,
            Status.Code.UNAVAILABLE,
            Status.Code.DATA_LOSS);

    private final Span span;
    private final SpanKind kind;

    SpanEnd(Span span, SpanKind kind) {
        this.span = span;
        this.kind = kind;
    }

    @Override
    public void onBegin(Route.Kind transport) {
        span.setAttribute(TRANSPORT, transport.name());
    }

    @Override
    public void onEnd(Status status, Metadata trailers) {
        span.setAttribute(STATUS, status.code().name());
        boolean failed =
                kind == SpanKind.SERVER ? ERRORS_OF_SERVERS.contains(status.code()) : status.code() != Status.Code.OK;
        if (failed) {
            span.setStatus(StatusCode.ERROR, status.description());
        }
        span.end();
    }
}
