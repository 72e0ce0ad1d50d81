package dev.rackcall.spring;

import dev.rackcall.rpc.RpcServer;

/** A bean that changes settings of the context's server before it starts. */
@FunctionalInterface
public interface RpcServerCustomizer {
    /** Called after the settings of {@code rackcall.*} properties, in the beans' order. */
    void customize(RpcServer.Builder server);
}
