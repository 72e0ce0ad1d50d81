package dev.rackcall.rpc;

/**
 * Measures the calls of a channel, or those that reach their handlers at a server: for metrics. It wraps no call, as an
 * interceptor does, so it costs less. One object serves any number of channels and servers. Thread-safe.
 */
public interface CallMeter {
    /** Measures the calls of one method at one end. Thread-safe. */
    interface OfMethod {
        /**
         * A call begins. Called at the client on the thread that makes the call, before its interceptors; at the server
         * on the handler's thread, before its interceptors. Must be cheap and must not block. If it throws, the log
         * says so, and the call is not measured.
         *
         * @param transport the expected transport; null if it is not known yet. At the client, {@link
         *     CallObserver#onBegin} reports the actual one
         * @return observes the call's end, and its bytes if it is a {@link ByteObserver}, too. Many calls may have the
         *     same one. {@link CallObserver#NONE}: the call is not measured
         */
        CallObserver begins(Route.Kind transport);
    }

    /** Measures the calls of a method at their client. Called once for each channel, when its first stub of the service is made. */
    OfMethod atClient(MethodDescriptor method);

    /** Measures the calls of a method at their server. Called when the server starts. */
    OfMethod atServer(MethodDescriptor method);

    /**
     * Whether it measures calls now; {@code true} unless overridden. Asked at most twice at the beginning of each call,
     * so it must be cheap and must not block.
     */
    default boolean isEnabled() {
        return true;
    }
}
