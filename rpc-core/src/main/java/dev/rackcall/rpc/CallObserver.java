package dev.rackcall.rpc;

/** Observes how a call ends. Called exactly once per call, on the thread that ends it; must not block or throw. */
@FunctionalInterface
public interface CallObserver {
    /** Does nothing. */
    CallObserver NONE = (status, trailers) -> {};

    /**
     * The call has ended.
     *
     * @param trailers what the server sent with the answer, also with success ({@link RpcContext#addTrailers}); empty if
     *     none
     */
    void onEnd(Status status, Metadata trailers);

    /** Returns an observer that calls this one and then {@code next}. */
    default CallObserver and(CallObserver next) {
        return (status, trailers) -> {
            try {
                onEnd(status, trailers);
            } finally {
                next.onEnd(status, trailers);
            }
        };
    }
}
