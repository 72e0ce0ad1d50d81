package dev.rackcall.rpc;

/** Wraps every call of a channel, for credentials, tracing, metrics, or a context. Thread-safe. */
@FunctionalInterface
public interface ClientInterceptor {
    /** Takes part in no call; builders leave it out. */
    ClientInterceptor NONE = (_, next) -> next.run();

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

        /** Tells {@code observer} how many bytes this call passes. Takes effect before {@code next} runs. */
        void onBytes(ByteObserver observer);
    }

    /**
     * Runs one call on the caller's thread. Interceptors run in the order in which they were added, each inside the one
     * before it. What one binds to the thread, such as a {@link ScopedValue} or a {@link ThreadLocal}, holds while the
     * arguments are encoded and until {@code next} returns, and for no other call.
     *
     * <p>{@code next} returns
     *
     * <ul>
     *   <li>for a synchronous method, also one that sends a stream, when the result has arrived and is decoded;
     *   <li>for a method that returns a {@code CompletableFuture}, and a one-way method, when the call was sent or
     *       queued: what completes later, such as a stage of the future, runs outside;
     *   <li>for a method that returns a {@code Stream}, when its first elements have arrived: further ones are fetched
     *       by the thread that reads the stream;
     *   <li>for a method that sends and returns a stream, when the call was sent.
     * </ul>
     *
     * <p>A stream that the caller sends is read on a thread of its own, without what the interceptors bind. {@link
     * Call#onEnd} observes the end of calls of all kinds.
     *
     * <p>An exception that leaves this method ends the call. The caller gets an {@link RpcException} unchanged; any
     * other exception is logged and becomes INTERNAL with the name of this class. A failure of {@code next} cannot be
     * turned into a success.
     *
     * @param next encodes the arguments, sends the call, and waits as described; must be run exactly once, on this
     *     thread, unless this method throws. Throws the exception that the caller will get
     */
    void around(Call call, Runnable next);

    /**
     * Whether it takes part in calls now; {@code true} unless overridden. Asked at most twice at the beginning of a
     * call, on the caller's thread, so it must be cheap and must not block. A call runs without the
     * interceptors that answer {@code false}, and if all do, it takes the same path as without interceptors. If
     * this method throws each time, the call ends as by an exception of {@link #around}.
     */
    default boolean isEnabled() {
        return true;
    }
}
