package dev.rackcall.rpc;

/** Sees every call of a channel before it leaves: for credentials, tracing, metrics. Thread-safe. */
@FunctionalInterface
public interface ClientInterceptor {
    /** A call that is about to leave. */
    interface Call {
        MethodDescriptor method();

        Metadata headers();

        /** Adds headers to this call. */
        void addHeaders(Metadata headers);

        /** Shortens this call's deadline; a later one than the present one has no effect. */
        void limit(Deadline deadline);
    }

    /**
     * Called on the caller's thread, first interceptor first.
     *
     * @return the observer of the call's end
     * @throws RpcException to refuse the call with that status
     */
    CallObserver onCall(Call call);
}
