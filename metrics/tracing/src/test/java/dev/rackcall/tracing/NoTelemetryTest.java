package dev.rackcall.tracing;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.OpenTelemetry;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Interceptors that have nothing to report to. */
class NoTelemetryTest {
    @Test
    void shouldRunCallsWithoutTouchingThem() {
        AtomicInteger ran = new AtomicInteger();
        CallTracing.client(OpenTelemetry.noop()).around(null, ran::incrementAndGet);
        CallTracing.server(OpenTelemetry.noop()).around(null, ran::incrementAndGet);
        assertThat(ran).hasValue(2);
    }
}
