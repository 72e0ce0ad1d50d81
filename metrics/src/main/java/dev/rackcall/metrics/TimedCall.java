package dev.rackcall.metrics;

import dev.rackcall.rpc.ByteObserver;
import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;

/** One call that is timed, or whose transport is not known when it begins. Any thread may end it. */
final class TimedCall implements CallObserver, ByteObserver {
    private final MeasuredMethod method;
    private final boolean timed;
    private final long start;
    /** Of the last attempt; null before the first. Not volatile: an attempt happens before its end. */
    private Route.Kind transport;

    TimedCall(MeasuredMethod method, Route.Kind transport, boolean timed) {
        this.method = method;
        this.transport = transport;
        this.timed = timed;
        this.start = timed ? System.nanoTime() : 0;
    }

    @Override
    public void onBegin(Route.Kind kind) {
        transport = kind;
    }

    @Override
    public void onBytes(long copied, long byPointer) {
        method.passed(copied, byPointer);
    }

    @Override
    public void onEnd(Status status, Metadata trailers) {
        long nanos = timed ? System.nanoTime() - start : 0;
        // First: the registry of a timer may throw.
        method.ended(status.code(), transport);
        if (timed) {
            method.took(status.code(), transport, nanos);
        }
    }
}
