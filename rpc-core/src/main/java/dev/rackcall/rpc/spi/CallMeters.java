package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import java.util.List;
import java.util.function.BiFunction;

/** The meters of one service at one end: of a stub, or of a server. Thread-safe. */
public final class CallMeters {
    private static final LimitedLog LOG = LimitedLog.of(CallMeters.class);

    private final CallMeter[] meters;
    /** By the method's index, and then in the order of {@link #meters}. */
    private final CallMeter.OfMethod[][] methods;

    /** No meters. */
    private static final CallMeters NONE = new CallMeters(List.of(), List.of(), CallMeter::atClient);

    private CallMeters(
            List<CallMeter> meters,
            List<MethodDescriptor> methods,
            BiFunction<CallMeter, MethodDescriptor, CallMeter.OfMethod> end) {
        this.meters = meters.toArray(CallMeter[]::new);
        this.methods = methods.stream()
                .map(method ->
                        meters.stream().map(meter -> end.apply(meter, method)).toArray(CallMeter.OfMethod[]::new))
                .toArray(CallMeter.OfMethod[][]::new);
    }

    /** Those of a stub. */
    public static CallMeters ofClient(List<CallMeter> meters, List<MethodDescriptor> methods) {
        return meters.isEmpty() ? NONE : new CallMeters(meters, methods, CallMeter::atClient);
    }

    /** Those of a service. */
    public static CallMeters ofServer(List<CallMeter> meters, List<MethodDescriptor> methods) {
        return meters.isEmpty() ? NONE : new CallMeters(meters, methods, CallMeter::atServer);
    }

    /** Whether one of them is enabled. Asked for each call. */
    public boolean areEnabled() {
        for (CallMeter each : meters) {
            if (each.isEnabled()) {
                return true;
            }
        }
        return false;
    }

    /**
     * A call begins. Throws nothing.
     *
     * @param transport null if it is not known yet
     * @return what observes the call, a {@link ByteObserver}, too, if its bytes are to be counted
     */
    public CallObserver begins(MethodDescriptor method, Route.Kind transport) {
        CallObserver all = CallObserver.NONE;
        for (int i = 0; i < meters.length; i++) {
            if (meters[i].isEnabled()) {
                all = both(all, begins(methods[method.index()][i], method, transport));
            }
        }
        return all;
    }

    private static CallObserver begins(CallMeter.OfMethod meter, MethodDescriptor method, Route.Kind transport) {
        try {
            return meter.begins(transport);
        } catch (RuntimeException | Error e) {
            LOG.warn("{}: the meter {} threw", method, meter.getClass().getName(), e);
            return CallObserver.NONE;
        }
    }

    /** Tells the observer of a call without streams all at its end. Throws nothing. */
    public static void tell(CallObserver observer, Status status, Metadata trailers, long copied) {
        if (observer instanceof ByteObserver bytes) {
            EndObservers.tellBytes(bytes, copied, 0);
        }
        EndObservers.tell(observer, status, trailers);
    }

    /** An observer that tells both, each unless it is {@link CallObserver#NONE}, and throws nothing. */
    public static CallObserver both(CallObserver first, CallObserver second) {
        if (first == CallObserver.NONE) {
            return second;
        }
        return second == CallObserver.NONE ? first : new Both(first, second);
    }

    private record Both(CallObserver first, CallObserver second) implements CallObserver, ByteObserver {
        @Override
        public void onBegin(Route.Kind transport) {
            EndObservers.tellBegin(first, transport);
            EndObservers.tellBegin(second, transport);
        }

        @Override
        public void onBytes(long copied, long byPointer) {
            tellBytes(first, copied, byPointer);
            tellBytes(second, copied, byPointer);
        }

        private static void tellBytes(CallObserver observer, long copied, long byPointer) {
            if (observer instanceof ByteObserver bytes) {
                EndObservers.tellBytes(bytes, copied, byPointer);
            }
        }

        @Override
        public void onEnd(Status status, Metadata trailers) {
            EndObservers.tell(first, status, trailers);
            EndObservers.tell(second, status, trailers);
        }
    }
}
