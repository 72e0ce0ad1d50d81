package dev.rackcall.metrics;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.BaseUnits;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** The meters of one method at one end. Thread-safe. A call finds them by array indexes, not by the registry's names. */
final class MeasuredMethod implements CallMeter.OfMethod {
    private static final String NO_TRANSPORT = "none";

    /** By registry, and then by end and method: a registry shows only the first object that a gauge was registered for. */
    private static final Map<MeterRegistry, Map<String, MethodCounts>> COUNTS = new WeakHashMap<>();

    private final MeterRegistry registry;
    /** Such as {@code rackcall.client}. */
    private final String end;

    private final MethodDescriptor method;
    /** Whether this end knows the bytes passed by pointer. */
    private final boolean pointers;

    private final Tags tags;
    private final AtomicReferenceArray<StripedCounter> ended = new AtomicReferenceArray<>(MethodCounts.combinations());
    private final AtomicReferenceArray<Timer> timers = new AtomicReferenceArray<>(MethodCounts.combinations());
    /** By transport; shared by all calls that are not timed. */
    private final Counted[] untimed =
            Stream.of(Route.Kind.values()).map(Counted::new).toArray(Counted[]::new);

    /**
     * Null before the first call, so that methods which are never called have no meters. Volatile: pairs with a read by
     * another thread, which finds the counts whole.
     */
    private volatile MethodCounts counts;

    MeasuredMethod(MeterRegistry registry, String end, MethodDescriptor method, boolean pointers) {
        this.registry = registry;
        this.end = end;
        this.method = method;
        this.pointers = pointers;
        this.tags = Tags.of("service", method.service(), "method", method.name());
    }

    private MethodCounts counts() {
        MethodCounts present = counts;
        if (present == null) {
            synchronized (COUNTS) {
                present = COUNTS.computeIfAbsent(registry, _ -> new HashMap<>())
                        .computeIfAbsent(end + method.fullName(), _ -> new MethodCounts());
            }
            register(present);
            counts = present;
        }
        return present;
    }

    /** Without a lock: the registry calls filters and listeners. */
    private void register(MethodCounts counted) {
        // Another CallMetrics may have registered the same counts; a registry logs a gauge that comes twice.
        if (registry.find(end + ".calls.active").tags(tags).gauge() == null) {
            Gauge.builder(end + ".calls.active", counted, MethodCounts::active)
                    .description("Calls that have not ended")
                    .tags(tags)
                    .register(registry);
        }
        bytes(counted, "copied", each -> each.copied.sum());
        if (pointers) {
            bytes(counted, "pointer", each -> each.byPointer.sum());
        }
    }

    private void bytes(MethodCounts counted, String way, ToDoubleFunction<MethodCounts> sum) {
        FunctionCounter.builder(end + ".bytes", counted, sum)
                .description("What calls pass, encoded or by pointer")
                .baseUnit(BaseUnits.BYTES)
                .tags(tags.and("way", way))
                .register(registry);
    }

    @Override
    public CallObserver begins(Route.Kind transport) {
        boolean timed = counts().begins();
        return timed || transport == null ? new TimedCall(this, transport, timed) : untimed[transport.ordinal()];
    }

    void passed(long copied, long byPointer) {
        // Most calls pass nothing in one of the two ways.
        if (copied != 0) {
            counts.copied.add(copied);
        }
        if (byPointer != 0) {
            counts.byPointer.add(byPointer);
        }
    }

    /** @param transport null if the call ended before it had a connection */
    void ended(Status.Code code, Route.Kind transport) {
        int index = MethodCounts.index(code, transport);
        StripedCounter counter = ended.get(index);
        if (counter != null) {
            counter.add(1);
            return;
        }
        StripedCounter first = counts.ended(index);
        first.add(1);
        // The registry keeps the first of several threads.
        FunctionCounter.builder(end + ".calls", first, StripedCounter::sum)
                .description("Calls that have ended")
                .tags(tags(code, transport))
                .register(registry);
        ended.set(index, first);
    }

    private Tags tags(Status.Code code, Route.Kind transport) {
        return tags.and("status", code.name(), "transport", transport == null ? NO_TRANSPORT : transport.name());
    }

    void took(Status.Code code, Route.Kind transport, long nanos) {
        counts.took(nanos);
        int index = MethodCounts.index(code, transport);
        Timer timer = timers.get(index);
        if (timer == null) {
            // The registry gives all threads the same one.
            timer = Timer.builder(end + ".calls.duration")
                    .description("Timed calls, from their beginning until they ended")
                    .tags(tags(code, transport))
                    .register(registry);
            timers.set(index, timer);
        }
        timer.record(nanos, TimeUnit.NANOSECONDS);
    }

    /** All calls over one transport that are not timed. */
    private final class Counted implements CallObserver, ByteObserver {
        private final Route.Kind transport;

        Counted(Route.Kind transport) {
            this.transport = transport;
        }

        @Override
        public void onBytes(long copied, long byPointer) {
            passed(copied, byPointer);
        }

        @Override
        public void onEnd(Status status, Metadata trailers) {
            ended(status.code(), transport);
        }
    }
}
