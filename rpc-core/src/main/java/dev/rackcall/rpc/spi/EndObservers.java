package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import java.util.Arrays;

/**
 * The observers of one call. Each is notified of the end once, even if it is added later. They must not throw; if one
 * does, the exception is logged and the others are still notified. Thread-safe.
 */
public final class EndObservers implements CallObserver {
    private static final LimitedLog LOG = LimitedLog.of(EndObservers.class);

    private static final CallObserver[] NO_OBSERVERS = {};

    /** Replaced and never changed, since calls make one of these objects each. */
    private CallObserver[] untold = NO_OBSERVERS;
    /** Null until the call has ended. */
    private Status ended;

    private Metadata trailers = Metadata.EMPTY;

    /** Adds an observer after those added before. */
    public void add(CallObserver observer) {
        if (observer == CallObserver.NONE) {
            return;
        }
        synchronized (this) {
            if (ended == null) {
                untold = Arrays.copyOf(untold, untold.length + 1);
                untold[untold.length - 1] = observer;
                return;
            }
        }
        tell(observer, ended, trailers);
    }

    @Override
    public void onBegin(Route.Kind transport) {
        CallObserver[] all;
        synchronized (this) {
            all = untold;
        }
        for (CallObserver each : all) {
            tellBegin(each, transport);
        }
    }

    /** Ends the call, unless it has ended. */
    @Override
    public void onEnd(Status status, Metadata sent) {
        CallObserver[] all;
        synchronized (this) {
            if (ended != null) {
                return;
            }
            trailers = sent;
            ended = status;
            all = untold;
            untold = NO_OBSERVERS;
        }
        for (CallObserver each : all) {
            tell(each, status, sent);
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

    private static void log(CallObserver observer, Throwable thrown, Object heard) {
        LOG.warn(
                "the observer {} of a call threw {} when it heard {}",
                observer.getClass().getName(),
                thrown,
                heard,
                thrown);
    }
}
