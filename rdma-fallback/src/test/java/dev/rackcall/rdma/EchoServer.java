package dev.rackcall.rdma;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import java.net.URI;

/** A server of {@link Echo} for tests of other packages. */
public final class EchoServer {
    private EchoServer() {}

    /** Serves at any free port of this host. */
    public static RpcServer at(String host, long arenaQuota) {
        return RpcServer.builder()
                .directory(OwnDirectory.path())
                .service(Echo.class, new EchoService())
                .dispatch(Dispatch.virtualThreads())
                .arenaQuota(arenaQuota)
                .listen(URI.create("rdma://" + host + ":0"))
                .start();
    }
}
