package dev.rackcall.route;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.LogLimit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts one attempt of a call at its subchannel, and tells the call's observer how it ended, unless there is another attempt. */
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

    /** By the thread that has the call, before it ends the attempt. */
    void tellNobody() {
        next = CallObserver.NONE;
    }

    /** It came to nothing: counts, and its call says so itself. */
    void endUntold(Status status) {
        tellNobody();
        onClose(status);
    }

    @Override
    public void onClose(Status status) {
        subchannel.ended(status.code());
        next.onClose(status);
    }

    /** Tells the observer of a call that no transport has. What it throws concerns nobody else: the call ends all the same. */
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
