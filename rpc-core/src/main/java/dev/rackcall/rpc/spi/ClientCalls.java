package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.MethodDescriptor;
import java.util.function.Function;

/** Where a stub starts its calls: a channel with its call options and interceptors. Thread-safe. */
public interface ClientCalls {
    /**
     * Whether an interceptor of the channel is enabled: the stub then makes its call by {@link #intercept}. Asked for
     * each call; throws nothing.
     */
    default boolean isIntercepted() {
        return false;
    }

    /**
     * Makes one call inside the channel's interceptors that are enabled.
     *
     * @param call makes the call over the connection that it gets, which has no interceptors, and returns the result;
     *     called once
     * @throws dev.rackcall.rpc.RpcException as the call throws it, or as an interceptor does
     */
    default <T> T intercept(MethodDescriptor method, Function<ClientCalls, T> call) {
        return call.apply(this);
    }

    /**
     * Begins a call on the calling thread: waits for a free slot up to the deadline.
     *
     * @throws dev.rackcall.rpc.RpcException UNAVAILABLE, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED
     */
    ClientCall begin(MethodDescriptor method);
}
