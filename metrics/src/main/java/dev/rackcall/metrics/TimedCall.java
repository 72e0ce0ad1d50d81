package dev.rackcall.metrics;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;

/** One call that is measured. Any thread may end it. */
final class TimedCall implements CallObserver {
    private final MethodMeters meters;
    private final long start = System.nanoTime();
    /** Of the last attempt; null before the first. Not volatile: an attempt happens before its end. */
    private Route.Kind transport;

    TimedCall(MethodMeters meters, Route.Kind transport) {
        this.meters = meters;
        this.transport = transport;
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
