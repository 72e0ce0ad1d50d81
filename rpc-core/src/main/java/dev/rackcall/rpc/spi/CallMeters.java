package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;

/** The meters of one service at one end: of a channel, or of a server. Thread-safe. */
public final class CallMeters {
    private static final LimitedLog LOG = LimitedLog.of(CallMeters.class);

    /** No meters. */
    public static final CallMeters NONE = new CallMeters(List.of(), List.of(), CallMeter::atClient);

    private final CallMeter[] meters;
    /** By the method's index, and then in the order of {@link #meters}. */
    private final CallMeter.OfMethod[][] methods;

    private CallMeters(
            List<CallMeter> meters,
            List<MethodDescriptor> methods,
            BiFunction<CallMeter, MethodDescriptor, CallMeter.OfMethod> end) {
        this.meters = meters.toArray(CallMeter[]::new);
        this.methods = new CallMeter.OfMethod[methods.size()][this.meters.length];
        for (MethodDescriptor method : methods) {
            for (int i = 0; i < this.meters.length; i++) {
                CallMeter meter = this.meters[i];
                this.methods[method.index()][i] = Objects.requireNonNull(
                        end.apply(meter, method), () -> meter.getClass().getName() + " measures no " + method);
            }
        }
    }

    /** Those of a service's stubs on one channel. */
    public static CallMeters ofClient(List<CallMeter> meters, List<MethodDescriptor> methods) {
        return meters.isEmpty() ? NONE : new CallMeters(meters, methods, CallMeter::atClient);
    }

    /** Those of a service. */
    public static CallMeters ofServer(List<CallMeter> meters, List<MethodDescriptor> methods) {
        return meters.isEmpty() ? NONE : new CallMeters(meters, methods, CallMeter::atServer);
    }

    /** Whether one of them is enabled. Asked for each call. Throws nothing. */
    public boolean areEnabled() {
        for (CallMeter each : meters) {
            try {
                if (each.isEnabled()) {
                    return true;
                }
            } catch (RuntimeException | Error _) {
                // It is asked again when the call begins, and then the log says so.
                return true;
            }
        }
        return false;
    }

    /**
     * Begins to measure a call. Called only if {@link #areEnabled}. Throws nothing.
     *
     * @param transport null if it is not known yet
     * @return what observes the call, a {@link ByteObserver}, too, if its bytes are to be counted
     */
    public CallObserver begins(MethodDescriptor method, Route.Kind transport) {
        CallObserver all = CallObserver.NONE;
        CallMeter.OfMethod[] ofMethod = methods[method.index()];
        for (int i = 0; i < ofMethod.length; i++) {
            all = both(all, begins(meters[i], ofMethod[i], method, transport));
        }
        return all;
    }

    private static CallObserver begins(
            CallMeter meter, CallMeter.OfMethod ofMethod, MethodDescriptor method, Route.Kind transport) {
        try {
            return meter.isEnabled()
                    ? Objects.requireNonNull(ofMethod.begins(transport), "it returned no observer")
                    : CallObserver.NONE;
        } catch (RuntimeException | Error e) {
            LOG.warn("{}: the meter {} threw", method, meter.getClass().getName(), e);
            return CallObserver.NONE;
        }
    }

    /** Tells an observer the bytes and the end of a call without streams. Throws nothing. */
    public static void tell(CallObserver observer, Status status, Metadata trailers, long copied) {
        if (observer instanceof ByteObserver bytes) {
            EndObservers.tellBytes(bytes, copied, 0);
        }
        EndObservers.tell(observer, status, trailers);
    }

    /** An observer that tells both and throws nothing. If one is {@link CallObserver#NONE}, the other itself. */
    public static CallObserver both(CallObserver first, CallObserver second) {
        if (first == CallObserver.NONE) {
            return second;
        }
        if (second == CallObserver.NONE) {
            return first;
        }
        return first instanceof ByteObserver || second instanceof ByteObserver
                ? new BytesToo(first, second)
                : new Both(first, second);
    }

    private static class Both implements CallObserver {
        final CallObserver first;
        final CallObserver second;

        Both(CallObserver first, CallObserver second) {
            this.first = first;
            this.second = second;
        }

        @Override
        public final void onBegin(Route.Kind transport) {
            EndObservers.tellBegin(first, transport);
            EndObservers.tellBegin(second, transport);
        }

        @Override
        public final void onEnd(Status status, Metadata trailers) {
            EndObservers.tell(first, status, trailers);
            EndObservers.tell(second, status, trailers);
        }
    }

    private static final class BytesToo extends Both implements ByteObserver {
        BytesToo(CallObserver first, CallObserver second) {
            super(first, second);
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
    }
}
