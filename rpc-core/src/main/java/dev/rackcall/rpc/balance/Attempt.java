package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One attempt of a call. Counts the call at its subchannel, and reports the end to the call's observer unless the call
 * is repeated.
 */
final class Attempt implements CallObserver {
    private static final Logger LOG = LoggerFactory.getLogger(Attempt.class);
    private static final LogLimit LOG_LIMIT = new LogLimit();

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
        onClose(status);
    }

    @Override
    public void onClose(Status status) {
        subchannel.ended(status.code());
        next.onClose(status);
    }

    /** Reports the end of a call if no transport does so. The observer's exceptions are logged. */
    static void tell(CallObserver observer, Status status) {
        try {
            observer.onClose(status);
        } catch (RuntimeException | Error e) {
            if (LOG_LIMIT.allows()) {
                LOG.warn("an interceptor's observer threw {} when it heard {}{}", e, status, LOG_LIMIT.skipped(), e);
            }
        }
    }
}
