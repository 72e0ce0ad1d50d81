package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcProvider;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.spi.CallThread;
import java.util.Optional;

/** Implements the API with the channels and servers of this package. */
public final class CoreProvider implements RpcProvider {
    /** For {@link java.util.ServiceLoader}. */
    public CoreProvider() {}

    @Override
    public RpcChannel.Builder channel(String name) {
        return new ChannelBuilder(name);
    }

    @Override
    public RpcServer.Builder server() {
        return new ServerBuilder();
    }

    @Override
    public Optional<RpcContext> currentCall() {
        return CallThread.currentCall().map(call -> call.context());
    }
}
