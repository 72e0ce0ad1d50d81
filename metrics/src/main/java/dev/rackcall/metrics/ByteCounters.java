package dev.rackcall.metrics;

import dev.rackcall.rpc.ByteObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.BaseUnits;

/** Makes the observers that count the bytes of one method's calls. */
final class ByteCounters {
    private ByteCounters() {}

    /** Of the calls at their client. */
    static ByteObserver ofClient(MeterRegistry registry, Tags method) {
        Counter copied = counter(registry, "rackcall.client.bytes", method, "copied");
        Counter byPointer = counter(registry, "rackcall.client.bytes", method, "pointer");
        return (encoded, pointedTo) -> {
            add(copied, encoded);
            add(byPointer, pointedTo);
        };
    }

    /** Of the calls at their server, which knows nothing of bytes by pointer. */
    static ByteObserver ofServer(MeterRegistry registry, Tags method) {
        Counter copied = counter(registry, "rackcall.server.bytes", method, "copied");
        return (encoded, _) -> add(copied, encoded);
    }

    private static void add(Counter counter, long bytes) {
        // Most calls pass nothing in one of the two ways, and an increment is an atomic operation.
        if (bytes > 0) {
            counter.increment((double) bytes);
        }
    }

    private static Counter counter(MeterRegistry registry, String name, Tags method, String way) {
        return Counter.builder(name)
                .description("What calls pass, encoded or by pointer")
                .baseUnit(BaseUnits.BYTES)
                .tags(method.and("way", way))
                .register(registry);
    }
}
