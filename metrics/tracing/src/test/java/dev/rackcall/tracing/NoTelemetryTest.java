package dev.rackcall.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.ClientInterceptor;
import dev.rackcall.rpc.ServerInterceptor;
import io.opentelemetry.api.OpenTelemetry;
import org.junit.jupiter.api.Test;

/** Interceptors that have nothing to report to. */
class NoTelemetryTest {
    @Test
    void shouldBeInterceptorsThatBuildersLeaveOut() {
        assertThat(CallTracing.client(OpenTelemetry.noop())).isSameAs(ClientInterceptor.NONE);
        assertThat(CallTracing.server(OpenTelemetry.noop())).isSameAs(ServerInterceptor.NONE);
    }
}
