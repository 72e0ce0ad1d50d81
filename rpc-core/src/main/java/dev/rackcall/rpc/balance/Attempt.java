package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;

/**
 * One attempt of a call. Counts the call at its subchannel, and reports the attempt's end to the call's observer unless
 * the call is repeated.
 */
final class Attempt implements CallObserver {
    private final Subchannel subchannel;
    private CallObserver next;

    private Attempt(Subchannel subchannel, CallObserver next) {
        this.subchannel = subchannel;
        this.next = next;
    }

    static Attempt begin(Subchannel subchannel, CallObserver next) {
        subchannel.begun();
        return new Attempt(subchannel, next);
    }

    /** Drops the observer. Called by the call's thread before the attempt ends. */
    void tellNobody() {
        next = CallObserver.NONE;
    }

    /** Ends an attempt that was not sent; the call itself reports the failure. */
    void endUntold(Status status) {
        tellNobody();
        onEnd(status, Metadata.EMPTY);
    }

    @Override
    public void onBegin(Route.Kind transport) {
        next.onBegin(transport);
    }

    @Override
    public void onEnd(Status status, Metadata trailers) {
        subchannel.ended(status.code());
        next.onEnd(status, trailers);
    }
}
