package dev.rackcall.tracing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.ServerInterceptor;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Interceptors that have nothing to report to. */
class NoTelemetryTest {
    @BeforeEach
    @AfterEach
    void forgetTheGlobalInstance() {
        GlobalOpenTelemetry.resetForTest();
    }

    private static void assertLeftOut(OpenTelemetry telemetry) {
        assertThat(CallTracing.client(telemetry)).isSameAs(ClientInterceptor.NONE);
        assertThat(CallTracing.server(telemetry)).isSameAs(ServerInterceptor.NONE);
    }

    private static void assertTakesPart(OpenTelemetry telemetry) {
        assertThat(CallTracing.client(telemetry)).isNotSameAs(ClientInterceptor.NONE);
        assertThat(CallTracing.server(telemetry)).isNotSameAs(ServerInterceptor.NONE);
    }

    @Test
    void shouldBeInterceptorsThatBuildersLeaveOut() {
        assertLeftOut(OpenTelemetry.noop());
    }

    @Test
    void shouldLeaveOutAGlobalInstanceThatIsNotSet() {
        assertLeftOut(GlobalOpenTelemetry.getOrNoop());
        OpenTelemetry unset = GlobalOpenTelemetry.get();
        assertThat(unset).isNotSameAs(OpenTelemetry.noop());
        assertLeftOut(unset);
        // So an interceptor that was left out misses no instance that is set later.
        try (OpenTelemetrySdk late = OpenTelemetrySdk.builder().build()) {
            assertThatIllegalStateException().isThrownBy(() -> GlobalOpenTelemetry.set(late));
        }
    }

    @Test
    void shouldUseAGlobalInstanceThatIsSet() {
        try (OpenTelemetrySdk early = OpenTelemetrySdk.builder().build()) {
            GlobalOpenTelemetry.set(early);
            assertTakesPart(GlobalOpenTelemetry.get());
        }
    }

    @Test
    void shouldCarryContextsWithoutSpans() {
        assertTakesPart(OpenTelemetry.propagating(ContextPropagators.create(W3CTraceContextPropagator.getInstance())));
    }
}
