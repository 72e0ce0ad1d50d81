package dev.rackcall.rpc;

import java.util.Objects;

/** Observes how a call ends. Called exactly once per call, on the thread that ends it; must not block or throw. */
@FunctionalInterface
public interface CallObserver {
    /** Does nothing. */
    CallObserver NONE = status -> {};

    void onClose(Status status);

    /** An observer that notifies this one and then {@code next}. */
    default CallObserver and(CallObserver next) {
        Objects.requireNonNull(next, "an interceptor returned null; return CallObserver.NONE to hear nothing");
        if (this == NONE) {
            return next;
        }
        return next == NONE
                ? this
                : status -> {
                    try {
                        onClose(status);
                    } finally {
                        next.onClose(status);
                    }
                };
    }
}
