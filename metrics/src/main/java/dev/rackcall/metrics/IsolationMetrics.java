package dev.rackcall.metrics;

import dev.rackcall.sandbox.IsolationEvents;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.BaseUnits;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;

/**
 * What isolation has done in this process: the counters {@code rackcall.isolation.seals}, {@code
 * rackcall.isolation.seals.size} (bytes that were sealed rather than copied), {@code rackcall.isolation.revocations} and
 * {@code rackcall.isolation.violations}. See {@link dev.rackcall.sandbox.IsolationEvents.Counters}.
 */
public final class IsolationMetrics implements MeterBinder {
    @Override
    public void bindTo(MeterRegistry registry) {
        counter(registry, "seals", null, "Scopes sealed", IsolationEvents.Counters::seals);
        counter(
                registry,
                "seals.size",
                BaseUnits.BYTES,
                "Bytes in sealed scopes",
                IsolationEvents.Counters::sealedBytes);
        counter(registry, "revocations", null, "Seals taken back", IsolationEvents.Counters::revocations);
        counter(registry, "violations", null, "Accesses refused", IsolationEvents.Counters::violations);
    }

    private static void counter(
            MeterRegistry registry,
            String name,
            String unit,
            String description,
            ToDoubleFunction<IsolationEvents.Counters> value) {
        FunctionCounter.builder(
                        "rackcall.isolation." + name,
                        IsolationEvents.class,
                        _ -> value.applyAsDouble(IsolationEvents.counters()))
                .description(description)
                .baseUnit(unit)
                .register(registry);
    }
}
