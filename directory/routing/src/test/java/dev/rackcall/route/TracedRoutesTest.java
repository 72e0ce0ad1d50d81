package dev.rackcall.route;

import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import dev.rackcall.tracing.CallTracing;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The spans of client and server join over each route that a channel takes. Each end has an SDK of its own. */
class TracedRoutesTest extends RoutesFixture {
    private static final AttributeKey<String> TRANSPORT = AttributeKey.stringKey("rackcall.transport");

    private final InMemorySpanExporter atClient = InMemorySpanExporter.create();
    private final InMemorySpanExporter atServer = InMemorySpanExporter.create();
    private final TwoHosts hosts = keep(TwoHosts.create());

    private OpenTelemetrySdk sdk(InMemorySpanExporter exporter) {
        return keep(OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                        .build())
                .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
                .build());
    }

    private static List<SpanData> over(Kind kind, InMemorySpanExporter exporter) {
        return exporter.getFinishedSpanItems().stream()
                .filter(span -> kind.name().equals(span.getAttributes().get(TRANSPORT)))
                .toList();
    }

    private void awaitJoinedSpans(Kind kind) {
        Await.until(
                "a span of the server below one of the client over " + kind,
                () -> over(kind, atClient).stream()
                        .filter(client -> client.getKind() == SpanKind.CLIENT)
                        .anyMatch(client -> over(kind, atServer).stream().anyMatch(server -> isBelow(server, client))));
    }

    private static boolean isBelow(SpanData server, SpanData client) {
        return server.getKind() == SpanKind.SERVER
                && server.getParentSpanContext().isRemote()
                && server.getTraceId().equals(client.getTraceId())
                && server.getParentSpanId().equals(client.getSpanId());
    }

    @Test
    void shouldJoinSpansOverAPoolAndOverTheNetworkAfterIt() {
        keep(server("a", new NumbersService("one"))
                .pool(hosts.first())
                .listen(ANY_PORT)
                .interceptor(CallTracing.server(sdk(atServer)))
                .start());
        Pool mine = hosts.host(1);
        RpcChannel channel = keep(channelOf("b", members())
                .pool(mine)
                .interceptor(CallTracing.client(sdk(atClient)))
                .open());
        awaitCalls(channel, Kind.POOL);
        awaitJoinedSpans(Kind.POOL);

        mine.close();

        awaitCalls(channel, Kind.TCP);
        awaitJoinedSpans(Kind.TCP);
    }
}
