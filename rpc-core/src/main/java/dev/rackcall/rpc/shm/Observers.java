package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Status;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs what users want to hear about calls. It must not throw; if it does, the call ends all the same. */
final class Observers {
    private static final Logger LOG = LoggerFactory.getLogger(Observers.class);
    private static final LogLimit LOG_LIMIT = new LogLimit();

    private Observers() {}

    static void tell(CallObserver observer, Status status) {
        if (observer != CallObserver.NONE) {
            try {
                observer.onClose(status);
            } catch (RuntimeException | Error e) {
                if (LOG_LIMIT.allows()) {
                    LOG.warn(
                            "an interceptor's observer threw {} when it heard {}{}", e, status, LOG_LIMIT.skipped(), e);
                }
            }
        }
    }

    /** An action for the cancellation of a call: runs on the poller, whose other calls it must not end. */
    static void cancelled(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error e) {
            if (LOG_LIMIT.allows()) {
                LOG.warn("an action for the cancellation of a call threw {}{}", e, LOG_LIMIT.skipped(), e);
            }
        }
    }
}
