package dev.rackcall.rpc;

/**
 * Wraps every call of a server, for authorisation, tracing, metrics, or a context such as a {@link ScopedValue}.
 * Thread-safe.
 *
 * <pre>{@code
 * RpcServer.builder().interceptor((call, next) ->
 *         ScopedValue.where(USER, userOf(call.headers())).run(next));
 * }</pre>
 */
@FunctionalInterface
public interface ServerInterceptor {
    /** Takes part in no call; builders leave it out. */
    ServerInterceptor NONE = (_, next) -> next.run();

    /**
     * Runs one call on the handler's thread. Interceptors run in the order in which they were added, each inside the
     * one before it. The call ends after the first one has returned, so all of them may add trailers until then.
     *
     * <p>An exception that leaves this method ends the call. An {@link RpcException} sets its status,
     * unless it {@linkplain RpcException#isFromCall comes from a call} that this interceptor made; any other
     * exception is logged and becomes INTERNAL with the name of this class. A failure of {@code next} cannot be turned
     * into a success.
     *
     * @param call may be kept
     * @param next decodes the arguments and runs the handler; must be run exactly once, on this thread, unless this
     *     method throws. It throws the {@link RpcException} with which the call will fail. If the handler returns a
     *     {@code CompletableFuture}, {@code next} returns when the handler does, and {@link RpcContext#onEnd} observes
     *     the end. If the handler returns a {@code Stream}, {@code next} also reads its elements, on a thread that
     *     serves no other call, and returns when the stream is over. A stream that the caller sends is read inside
     *     {@code next}. For a one-way method {@code next} returns when the handler does; only observers and the log
     *     learn of its failure
     */
    void around(RpcContext call, Runnable next);

    /**
     * Whether it takes part in calls now; {@code true} unless overridden. Asked at most twice at the beginning of a
     * call, on the polling thread or the handler's, so it must be cheap and must not block. A call runs without the
     * interceptors that answer {@code false}, and if all do, it takes the same path as without interceptors. If
     * this method throws each time, the call ends as by an exception of {@link #around}.
     */
    default boolean isEnabled() {
        return true;
    }
}
