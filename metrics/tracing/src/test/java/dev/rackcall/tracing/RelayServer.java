package dev.rackcall.tracing;

import dev.rackcall.rpc.RpcServer;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;

/** A server in a process of its own, which prints its spans as {@code span NAME TRACE PARENT TRANSPORT}. */
final class RelayServer {
    private RelayServer() {}

    private static final class Printer implements SpanExporter {
        @Override
        public CompletableResultCode export(Collection<SpanData> spans) {
            for (SpanData each : spans) {
                System.out.println("span " + each.getName() + " " + each.getTraceId() + " " + each.getParentSpanId()
                        + " " + each.getAttributes().get(AttributeKey.stringKey("rackcall.transport")));
            }
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
        }
    }

    static void main(String[] arguments) throws InterruptedException {
        OpenTelemetrySdk telemetry = OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(new Printer()))
                        .build())
                .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
                .build();
        RpcServer server = RpcServer.builder()
                .interceptor(CallTracing.server(telemetry))
                .service(Relay.class, new Relay.Current())
                .start();
        server.awaitTermination();
    }
}
