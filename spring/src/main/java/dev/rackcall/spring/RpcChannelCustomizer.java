package dev.rackcall.spring;

import dev.rackcall.rpc.RpcChannel;

/** A bean that changes settings of the context's channels before they open. */
@FunctionalInterface
public interface RpcChannelCustomizer {
    /** Called for each channel, after the settings of {@code rackcall.*} properties, in the beans' order. */
    void customize(String name, RpcChannel.Builder channel);
}
