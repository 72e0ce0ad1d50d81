package dev.rackcall.rpc;

/** Observes the life of a call. Its methods must not block or throw. */
@FunctionalInterface
public interface CallObserver {
    /** Does nothing. */
    CallObserver NONE = (status, trailers) -> {};

    /**
     * The call has a connection. Its arguments may have been encoded before. Called on the thread that sends the call,
     * once for each attempt, and never if the call ends before.
     *
     * @param transport how the call reaches its server
     */
    default void onBegin(Route.Kind transport) {}

    /**
     * The call has ended. Called exactly once per call, on the thread that ends it.
     *
     * @param trailers what the server sent with the answer, also with success ({@link RpcContext#addTrailers}); empty if
     *     none
     */
    void onEnd(Status status, Metadata trailers);

    /** Returns an observer that calls this one and then {@code next}. */
    default CallObserver and(CallObserver next) {
        CallObserver first = this;
        return new CallObserver() {
            @Override
            public void onBegin(Route.Kind transport) {
                try {
                    first.onBegin(transport);
                } finally {
                    next.onBegin(transport);
                }
            }

            @Override
            public void onEnd(Status status, Metadata trailers) {
                try {
                    first.onEnd(status, trailers);
                } finally {
                    next.onEnd(status, trailers);
                }
            }
        };
    }
}
