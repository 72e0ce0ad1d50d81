package dev.rackcall.rpc;

/** Sees every call of a server before its handler: for authorisation, tracing, metrics. Thread-safe. */
@FunctionalInterface
public interface ServerInterceptor {
    /**
     * Called on the handler's thread before arguments are decoded, in the order in which interceptors were added.
     *
     * @return the observer of the call's end
     * @throws RpcException to refuse the call with that status
     */
    CallObserver onCall(RpcContext call);
}
