package dev.rackcall.rpc;

/** Sees every call of a channel before it is sent: for credentials, tracing, metrics. Thread-safe. */
@FunctionalInterface
public interface ClientInterceptor {
    /** A call that is about to be sent. */
    interface Call {
        MethodDescriptor method();

        Metadata headers();

        /** Adds headers to this call. */
        void addHeaders(Metadata headers);

        /** Shortens this call's deadline; a later deadline than the current one has no effect. */
        void limit(Deadline deadline);
    }

    /**
     * Called on the caller's thread, in the order in which interceptors were added.
     *
     * @return the observer of the call's end
     * @throws RpcException to refuse the call with that status
     */
    CallObserver onCall(Call call);
}
