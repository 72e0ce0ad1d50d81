package dev.rackcall.perf.calls;

import dev.rackcall.metrics.CallEvents;
import dev.rackcall.metrics.CallMetrics;
import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.tracing.CallTracing;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * A call that both ends report through meters and interceptors, to be compared with one that they do not.
 *
 * @param reporters what reports it, and to what
 */
public record ReportedCall(Reporters reporters) implements Sides {
    private static final String PLAIN = "metrics-plain";

    /** What reports the call at each end. */
    enum Reporters {
        NONE(PLAIN, "no meter and no interceptor"),
        UNHEARD(
                "metrics-off",
                "meters for Micrometer and the Flight Recorder, an interceptor for OpenTelemetry, without a listener:"
                        + " no registry, no recording, no SDK"),
        MICROMETER("metrics-on", "meter for Micrometer, with a simple registry"),
        OPEN_TELEMETRY(
                "metrics-tracing",
                "interceptors for OpenTelemetry, with an SDK that samples all calls and has no exporter; the context"
                        + " travels in the headers");

        private final String name;
        private final String words;

        Reporters(String name, String words) {
            this.name = name;
            this.words = words;
        }

        List<ClientInterceptor> client() {
            return switch (this) {
                case NONE -> List.of();
                case UNHEARD -> List.of(CallTracing.client(OpenTelemetry.noop()));
                case MICROMETER -> List.of();
                case OPEN_TELEMETRY -> List.of(CallTracing.client(telemetry()));
            };
        }

        List<ServerInterceptor> server() {
            return switch (this) {
                case NONE -> List.of();
                case UNHEARD -> List.of(CallTracing.server(OpenTelemetry.noop()));
                case MICROMETER -> List.of();
                case OPEN_TELEMETRY -> List.of(CallTracing.server(telemetry()));
            };
        }

        List<CallMeter> meters() {
            return switch (this) {
                case NONE, OPEN_TELEMETRY -> List.of();
                case UNHEARD -> List.of(new CallMetrics(new CompositeMeterRegistry()), new CallEvents());
                case MICROMETER -> List.of(new CallMetrics(registry()));
            };
        }

        private static MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }

        private static OpenTelemetry telemetry() {
            return OpenTelemetrySdk.builder()
                    .setTracerProvider(SdkTracerProvider.builder().build())
                    .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
                    .build();
        }
    }

    /** The plain call, then the others. */
    public static List<Subject> subjects() {
        return Stream.of(Reporters.values()).map(ReportedCall::subject).toList();
    }

    private static Subject subject(Reporters reporters) {
        String settings = reporters.words + ", at both ends; a number there and back through shared memory,"
                + " synchronous typed stub, handlers on the polling thread";
        return Subject.of(reporters.name, Long.BYTES, settings, new ReportedCall(reporters), Subject.Trait.SPINS)
                .in(BenchTarget.METRICS, "metrics", reporters == Reporters.NONE ? "" : PLAIN);
    }

    @Override
    public ServerSide serve(Path directory) {
        RpcServer.Builder builder = RpcServer.builder()
                .service(BenchCalls.class, new BenchCalls.Handlers())
                .waiting(WaitStrategy.adaptive())
                .runtimeFolder(directory.resolve("rackcall"));
        reporters.server().forEach(builder::interceptor);
        reporters.meters().forEach(builder::meter);
        return builder.start()::close;
    }

    @Override
    public ClientSide connect(Path directory) {
        RpcChannel.Builder builder = RpcChannel.builder(BenchCalls.CHANNEL)
                .waiting(WaitStrategy.adaptive())
                .runtimeFolder(directory.resolve("rackcall"));
        reporters.client().forEach(builder::interceptor);
        reporters.meters().forEach(builder::meter);
        RpcChannel channel = builder.open();
        return new RackcallCall.NumberClient(reporters.name, channel, channel.stub(BenchCalls.class));
    }
}
