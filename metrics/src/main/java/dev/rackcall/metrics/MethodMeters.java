package dev.rackcall.metrics;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;

/** The meters of one method. Thread-safe. A call finds its timer by two array indexes, not by the registry's names. */
final class MethodMeters {
    private static final int KINDS = Route.Kind.values().length;
    private static final int CODES = Status.Code.values().length;
    private static final String NO_TRANSPORT = "none";

    /**
     * Calls that have not ended, by registry and gauge. Interceptors of several channels share a registry's gauge, which
     * shows only the number that it was registered with.
     */
    private static final Map<MeterRegistry, Map<String, LongAdder>> ACTIVE = new WeakHashMap<>();

    private final MeterRegistry registry;
    private final String name;
    private final Tags tags;
    private final LongAdder active;
    /** By transport (the last for none) and status; made when first used, because most combinations never are. */
    private final AtomicReferenceArray<Timer> timers = new AtomicReferenceArray<>((KINDS + 1) * CODES);

    /** Of this side; null before the first call. Any thread may make it: the registry gives all the same counters. */
    private volatile ByteObserver bytes;

    private MethodMeters(MeterRegistry registry, String name, MethodDescriptor method) {
        this.registry = registry;
        this.name = name;
        this.tags = Tags.of("service", method.service(), "method", method.name());
        this.active = active(method.fullName());
    }

    private LongAdder active(String method) {
        synchronized (ACTIVE) {
            return ACTIVE.computeIfAbsent(registry, _ -> new HashMap<>()).computeIfAbsent(name + method, _ -> {
                LongAdder count = new LongAdder();
                Gauge.builder(name + ".active", count, LongAdder::sum)
                        .description("Calls that have not ended")
                        .tags(tags)
                        .register(registry);
                return count;
            });
        }
    }

    /** The meters of all methods of one side. Thread-safe. */
    static final class OfAll {
        private final MeterRegistry registry;
        private final String name;
        /** Null if the registry is no composite. */
        private final CompositeMeterRegistry composite;

        private final Map<MethodDescriptor, MethodMeters> methods = new ConcurrentHashMap<>();

        OfAll(MeterRegistry registry, String name) {
            this.registry = registry;
            this.name = name;
            this.composite = registry instanceof CompositeMeterRegistry several ? several : null;
        }

        /** Whether the registry records anything: a composite without registries drops what it is told. */
        boolean areHeard() {
            return composite == null || !composite.getRegistries().isEmpty();
        }

        MethodMeters of(MethodDescriptor method) {
            MethodMeters known = methods.get(method);
            return known != null
                    ? known
                    : methods.computeIfAbsent(method, each -> new MethodMeters(registry, name, each));
        }
    }

    /** Counts the bytes of the method's calls at their client. */
    ByteObserver clientBytes() {
        ByteObserver known = bytes;
        if (known == null) {
            known = ByteCounters.ofClient(registry, tags);
            bytes = known;
        }
        return known;
    }

    /** Counts the bytes of the method's calls at their server. */
    ByteObserver serverBytes() {
        ByteObserver known = bytes;
        if (known == null) {
            known = ByteCounters.ofServer(registry, tags);
            bytes = known;
        }
        return known;
    }

    void begun() {
        active.increment();
    }

    /** @param transport null if the call ended before it had a connection */
    void ended(Status.Code code, Route.Kind transport, long nanos) {
        active.decrement();
        timer(code, transport).record(nanos, TimeUnit.NANOSECONDS);
    }

    private Timer timer(Status.Code code, Route.Kind transport) {
        int index = (transport == null ? KINDS : transport.ordinal()) * CODES + code.ordinal();
        Timer timer = timers.get(index);
        if (timer == null) {
            // The registry gives all threads the same one.
            timer = Timer.builder(name)
                    .description("Calls, from their beginning until they ended")
                    .tags(tags.and(
                            "status", code.name(), "transport", transport == null ? NO_TRANSPORT : transport.name()))
                    .register(registry);
            timers.set(index, timer);
        }
        return timer;
    }
}
