package dev.rackcall.spring;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;

/** Gets to know the context's server and channels. */
interface Opened {
    void server(RpcServer server);

    void channel(RpcChannel channel);
}
