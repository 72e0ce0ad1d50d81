package dev.rackcall.rpc;

/** Hears how a call ended. Called exactly once per call, on the thread that ends it; must not block or throw. */
@FunctionalInterface
public interface CallObserver {
    /** Does nothing. */
    CallObserver NONE = status -> {};

    void onClose(Status status);

    /** An observer that tells this one and then {@code next}. */
    default CallObserver and(CallObserver next) {
        if (this == NONE) {
            return next;
        }
        return next == NONE
                ? this
                : status -> {
                    onClose(status);
                    next.onClose(status);
                };
    }
}
