package dev.rackcall.metrics;

import dev.rackcall.shm.waiting.WaitCounts;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

/**
 * How the threads of this process have waited for calls: the counter {@code rackcall.waits}, with the tag {@code kind},
 * see {@link dev.rackcall.shm.waiting.WaitCounts.Kind}.
 */
public final class WaitMetrics implements MeterBinder {
    @Override
    public void bindTo(MeterRegistry registry) {
        for (WaitCounts.Kind kind : WaitCounts.Kind.values()) {
            FunctionCounter.builder("rackcall.waits", kind, WaitCounts::of)
                    .description("Waits for answers, slots and requests")
                    .tag("kind", kind.name())
                    .register(registry);
        }
    }
}
