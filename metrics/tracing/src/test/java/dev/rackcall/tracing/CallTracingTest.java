package dev.rackcall.tracing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.baggage.Baggage;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.context.propagation.TextMapSetter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Spans of calls, with the real SDK. Client and server have an SDK each, as in two processes. */
class CallTracingTest {
    @TempDir
    private Path folder;

    private final InMemorySpanExporter exported = InMemorySpanExporter.create();
    private final OpenTelemetrySdk atClient = sdk();
    private final OpenTelemetrySdk atServer = sdk();

    /** Closed after each test, newest first. */
    private final Deque<AutoCloseable> kept = new ArrayDeque<>();

    private OpenTelemetrySdk sdk() {
        return OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(exported))
                        .build())
                .setPropagators(ContextPropagators.create(TextMapPropagator.composite(
                        W3CTraceContextPropagator.getInstance(), W3CBaggagePropagator.getInstance(), new OddHeaders())))
                .build();
    }

    /** Injects headers that metadata cannot carry, if the baggage says so. */
    private static final class OddHeaders implements TextMapPropagator {
        @Override
        public Collection<String> fields() {
            return List.of();
        }

        @Override
        public <C> void inject(Context context, C carrier, TextMapSetter<C> setter) {
            if (Baggage.fromContext(context).getEntryValue("odd") != null) {
                setter.set(carrier, "odd:key", "x");
                setter.set(carrier, "large", "x".repeat(Metadata.MAX_BYTES));
            }
        }

        @Override
        public <C> Context extract(Context context, C carrier, TextMapGetter<C> getter) {
            return context;
        }
    }

    /** @param transport as spans name it; {@code RDMA} over a software device is one that they name {@code TCP} */
    private Relay connect(String transport) {
        RpcServer.Builder serving = RpcServer.builder()
                .runtimeFolder(folder)
                .interceptor(CallTracing.server(atServer))
                .service(Relay.class, new Relay.Current());
        RpcChannel.Builder calling =
                RpcChannel.builder("/test/relay").runtimeFolder(folder).interceptor(CallTracing.client(atClient));
        if (!transport.equals("PROCESS")) {
            if (transport.equals("TCP_QUEUES")) {
                useQueues();
            }
            serving.listen(URI.create(
                    switch (transport) {
                        case "TCP" -> "soft://127.0.0.1:0";
                        // The software device: no real one has this address.
                        case "RDMA" -> "rdma://127.0.0.1:0";
                        default -> "vq://host-a:0";
                    }));
        }
        RpcServer server = keep(serving.start());
        server.address().ifPresent(calling::address);
        return keep(calling.open()).stub(Relay.class);
    }

    private void useQueues() {
        MetaServer meta = keep(MetaServer.open(SoftDevice.of("meta", SoftOptions.local()), 16, Duration.ofMinutes(1)));
        Agent agent = keep(Agent.open(
                SoftDevice.of("host-a", SoftOptions.local()),
                AgentOptions.of(HostId.named("host-a")).withMeta(meta::address)));
        Tenant tenant = keep(agent.admit("tracing"));
        QueueSettings.use(tenant);
        keep(() -> QueueSettings.forget(tenant));
    }

    private <T extends AutoCloseable> T keep(T closeable) {
        kept.push(closeable);
        return closeable;
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable each : kept) {
            each.close();
        }
        atClient.close();
        atServer.close();
    }

    /** The spans of a call's client and server, in this order. */
    private List<SpanData> spans(String method) {
        Await.until("both spans", () -> named(method).size() == 2);
        return named(method);
    }

    private List<SpanData> named(String method) {
        return exported.getFinishedSpanItems().stream()
                .filter(span -> span.getName().equals("test/relay/" + method))
                .sorted(Comparator.comparing(SpanData::getKind).reversed())
                .toList();
    }

    private static void assertJoined(List<SpanData> spans, String transport) {
        SpanData client = spans.get(0);
        SpanData serving = spans.get(1);
        assertThat(client.getKind()).isEqualTo(SpanKind.CLIENT);
        assertThat(serving.getKind()).isEqualTo(SpanKind.SERVER);
        assertThat(serving.getTraceId()).isEqualTo(client.getTraceId());
        assertThat(serving.getParentSpanId()).isEqualTo(client.getSpanId());
        assertThat(serving.getParentSpanContext().isRemote()).isTrue();
        for (SpanData each : spans) {
            assertThat(each.getAttributes().get(AttributeKey.stringKey("rackcall.transport")))
                    .isEqualTo(transport);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"PROCESS", "TCP_QUEUES", "TCP", "RDMA"})
    void shouldJoinTheSpansOfClientAndServer(String transport) {
        Relay relay = connect(transport);
        Span outer = atClient.getTracer("test").spanBuilder("outer").startSpan();
        String trace = outer.getSpanContext().getTraceId();
        try (Scope _ = outer.makeCurrent()) {
            assertThat(relay.trace()).isEqualTo(trace);
            assertThat(relay.later().join()).isEqualTo(trace);
            try (Stream<String> many = relay.many(200)) {
                assertThat(many).hasSize(200).containsOnly(trace);
            }
        }
        outer.end();
        for (String method : List.of("trace", "later", "many")) {
            List<SpanData> spans = spans(method);
            assertJoined(spans, transport.equals("RDMA") ? "TCP" : transport);
            assertThat(spans.getFirst().getParentSpanId())
                    .isEqualTo(outer.getSpanContext().getSpanId());
        }
    }

    @Test
    void shouldJoinTheSpansOfTwoProcesses() throws InterruptedException {
        ChildJvm other = keep(ChildJvm.start(RelayServer.class, folder));
        RpcChannel channel = keep(RpcChannel.builder("/test/relay")
                .runtimeFolder(folder)
                .waitForReady(Await.BOUND)
                .interceptor(CallTracing.client(atClient))
                .open());
        String trace = channel.stub(Relay.class).trace();
        Await.until("the client's span", () -> named("trace").size() == 1);
        SpanData client = named("trace").getFirst();
        assertThat(client.getTraceId()).isEqualTo(trace);
        assertThat(other.awaitLine("span "))
                .isEqualTo("span test/relay/trace " + trace + " " + client.getSpanId() + " HOST");
    }

    @Test
    void shouldBeginATraceForACallOutsideOfAny() {
        RpcServer server = RpcServer.builder()
                .runtimeFolder(folder)
                .interceptor(CallTracing.server(atServer))
                .service(Relay.class, new Relay.Current())
                .start();
        RpcChannel channel = RpcChannel.builder("/test/relay")
                .runtimeFolder(folder)
                .interceptor(CallTracing.client(atClient))
                .open();
        keep(server);
        Relay relay = keep(channel).stub(Relay.class);
        String first = relay.trace();
        assertThat(relay.trace()).isNotEqualTo(first);
        assertThat(Span.current().getSpanContext().isValid()).as("left behind").isFalse();
    }

    /** As a service in the middle does that has no SDK. */
    @Test
    void shouldCarryATraceOnWithoutSpans() {
        OpenTelemetry middle =
                OpenTelemetry.propagating(ContextPropagators.create(W3CTraceContextPropagator.getInstance()));
        keep(RpcServer.builder()
                .runtimeFolder(folder)
                .interceptor(CallTracing.server(middle))
                .service(Relay.class, new Relay.Current())
                .start());
        RpcChannel channel = keep(RpcChannel.builder("/test/relay")
                .runtimeFolder(folder)
                .interceptor(CallTracing.client(middle))
                .open());
        Span outer = atClient.getTracer("test").spanBuilder("outer").startSpan();
        try (Scope _ = outer.makeCurrent()) {
            assertThat(channel.stub(Relay.class).trace())
                    .isEqualTo(outer.getSpanContext().getTraceId());
        }
        outer.end();
        assertThat(named("trace")).isEmpty();
    }

    @Test
    void shouldCallWithoutHeadersThatCannotTravel() {
        Relay relay = connect("PROCESS");
        Span outer = atClient.getTracer("test").spanBuilder("outer").startSpan();
        Baggage odd = Baggage.builder().put("odd", "x").build();
        try (Scope _ = outer.makeCurrent();
                Scope _ = odd.makeCurrent()) {
            assertThat(relay.trace()).isEqualTo(outer.getSpanContext().getTraceId());
        }
        outer.end();
    }

    @Test
    void shouldMarkFailures() {
        Relay relay = connect("PROCESS");
        assertThatThrownBy(() -> relay.fail("broken")).isInstanceOf(RpcException.class);
        for (SpanData each : spans("fail")) {
            assertThat(each.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
            assertThat(each.getAttributes().get(AttributeKey.stringKey("rackcall.status")))
                    .isEqualTo("UNKNOWN");
        }
    }
}
