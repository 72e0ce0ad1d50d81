package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The observers of one call. Each is notified of the end once, even if it is added later. They must not throw; if one
 * does, the exception is logged and the others are still notified. Thread-safe, without a lock.
 */
public final class EndObservers implements CallObserver {
    private static final LimitedLog LOG = LimitedLog.of(EndObservers.class);
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(EndObservers.class, "state", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * Null without observers, the only {@link CallObserver}, or an array of several, which never changes; an {@link
     * End} once the call has ended. Replaced by compare-and-set only, so that an observer is either among those that
     * {@link #onEnd} takes out, or finds the end.
     */
    private volatile Object state;

    private record End(Status status, Metadata trailers) {}

    /** Adds an observer after those added before. */
    public void add(CallObserver observer) {
        if (observer == CallObserver.NONE) {
            return;
        }
        Object seen;
        do {
            seen = state;
            if (seen instanceof End end) {
                tell(observer, end.status, end.trailers);
                return;
            }
        } while (!STATE.compareAndSet(this, seen, with(seen, observer)));
    }

    private static Object with(Object before, CallObserver added) {
        if (before == null) {
            return added;
        }
        CallObserver[] all = before instanceof CallObserver[] several
                ? Arrays.copyOf(several, several.length + 1)
                : new CallObserver[] {(CallObserver) before, added};
        all[all.length - 1] = added;
        return all;
    }

    @Override
    public void onBegin(Route.Kind transport) {
        Object seen = state;
        if (seen instanceof CallObserver only) {
            tellBegin(only, transport);
        } else if (seen instanceof CallObserver[] several) {
            for (CallObserver each : several) {
                tellBegin(each, transport);
            }
        }
    }

    /** Ends the call, unless it has ended. */
    @Override
    public void onEnd(Status status, Metadata sent) {
        End end = new End(status, sent);
        Object seen;
        do {
            seen = state;
            if (seen instanceof End) {
                return;
            }
        } while (!STATE.compareAndSet(this, seen, end));
        if (seen instanceof CallObserver only) {
            tell(only, status, sent);
        } else if (seen instanceof CallObserver[] several) {
            for (CallObserver each : several) {
                tell(each, status, sent);
            }
        }
    }

    /** Notifies one observer of an attempt, and logs what it throws. */
    public static void tellBegin(CallObserver observer, Route.Kind transport) {
        try {
            observer.onBegin(transport);
        } catch (RuntimeException | Error e) {
            log(observer, e, transport);
        }
    }

    /** Notifies one observer of the end, and logs what it throws. */
    public static void tell(CallObserver observer, Status status, Metadata trailers) {
        if (observer != CallObserver.NONE) {
            try {
                observer.onEnd(status, trailers);
            } catch (RuntimeException | Error e) {
                log(observer, e, status);
            }
        }
    }

    /** Notifies one observer of a part of the call, and logs what it throws. */
    public static void tellBytes(ByteObserver observer, long copied, long byPointer) {
        try {
            observer.onBytes(copied, byPointer);
        } catch (RuntimeException | Error e) {
            log(observer, e, copied);
        }
    }

    private static void log(Object observer, Throwable thrown, Object heard) {
        LOG.warn(
                "the observer {} of a call threw {} when it heard {}",
                observer.getClass().getName(),
                thrown,
                heard,
                thrown);
    }
}
