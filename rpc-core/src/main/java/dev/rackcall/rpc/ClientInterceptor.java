package dev.rackcall.rpc;

/** Wraps every call of a channel, for credentials, tracing, metrics, or a context. Thread-safe. */
@FunctionalInterface
public interface ClientInterceptor {
    /** A call that is about to be sent. Used on the caller's thread, until its interceptors have returned. */
    interface Call {
        MethodDescriptor method();

        Metadata headers();

        /** Adds headers to this call. */
        void addHeaders(Metadata headers);

        /** Shortens this call's deadline; a later deadline than the current one has no effect. */
        void limit(Deadline deadline);

        /**
         * Tells {@code observer} of the call's attempts from now on and of its end, at once if it has ended. An
         * observer that was added before {@code next} learns of every attempt.
         */
        void onEnd(CallObserver observer);
    }

    /**
     * Runs one call on the caller's thread. Interceptors run in the order in which they were added, each inside the one
     * before it.
     *
     * <p>An exception that leaves this method ends the call. The caller gets an {@link RpcException} unchanged; any
     * other exception is logged and becomes INTERNAL with the name of this class. A failure of {@code next} cannot be
     * turned into a success.
     *
     * @param next encodes the arguments, sends the call, and waits for its result; must be run exactly once, on this
     *     thread, unless this method throws. Throws the exception that the caller will get. For a method that returns a
     *     {@code CompletableFuture} and a one-way method it returns when the call was sent or queued, for a {@code Stream} when the first elements
     *     have arrived; {@link Call#onEnd} observes the end
     */
    void around(Call call, Runnable next);
}
