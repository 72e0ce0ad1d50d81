package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.MethodDescriptor;

/** Where a stub starts its calls: a channel with its call options and interceptors. Thread-safe. */
public interface ClientCalls {
    /**
     * Begins a call on the calling thread: waits for a free slot up to the deadline.
     *
     * @throws dev.rackcall.rpc.RpcException UNAVAILABLE, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED, or what an interceptor threw
     */
    ClientCall begin(MethodDescriptor method);
}
