package dev.rackcall.metrics;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;

/** One call that is measured. Any thread may end it; an attempt happens before its end. */
final class TimedCall implements CallObserver {
    private final MethodMeters meters;
    private final long start = System.nanoTime();
    /** Null before the first attempt. */
    private volatile Route.Kind transport;

    TimedCall(MethodMeters meters) {
        this.meters = meters;
        meters.begun();
    }

    @Override
    public void onBegin(Route.Kind kind) {
        transport = kind;
    }

    @Override
    public void onEnd(Status status, Metadata trailers) {
        meters.ended(status.code(), transport, System.nanoTime() - start);
    }
}
