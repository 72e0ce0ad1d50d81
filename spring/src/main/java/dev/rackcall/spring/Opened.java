package dev.rackcall.spring;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;

/** Receives the context's server and its channels when they are opened. */
interface Opened {
    void server(RpcServer server);

    void channel(RpcChannel channel);
}
