package dev.rackcall.metrics;

import dev.rackcall.rpc.ByteObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;

/** The bytes of one method's calls at their client. */
record ByteCounters(Counter copied, Counter byPointer) implements ByteObserver {
    static ByteCounters of(MeterRegistry registry, Tags method) {
        return new ByteCounters(counter(registry, method, "copied"), counter(registry, method, "pointer"));
    }

    private static Counter counter(MeterRegistry registry, Tags method, String way) {
        return Counter.builder("rackcall.client.bytes")
                .description("What calls pass, encoded or by pointer")
                .baseUnit(BaseUnits.BYTES)
                .tags(method.and("way", way))
                .register(registry);
    }

    @Override
    public void onBytes(long encoded, long pointedTo) {
        // Most calls pass nothing in one of the two ways, and an increment is an atomic operation.
        if (encoded > 0) {
            copied.increment((double) encoded);
        }
        if (pointedTo > 0) {
            byPointer.increment((double) pointedTo);
        }
    }
}
