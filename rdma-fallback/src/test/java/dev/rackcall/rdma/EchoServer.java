package dev.rackcall.rdma;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.testkit.Await;
import java.net.URI;

/** Servers of {@link Echo}, and channels to them. */
public final class EchoServer {
    private EchoServer() {}

    /** Serves at any free port of this host. */
    static RpcServer at(String host, long arenaQuota) {
        return builder(new EchoService())
                .arenaQuota(arenaQuota)
                .listen(URI.create("rdma://" + host + ":0"))
                .start();
    }

    public static RpcServer at(URI address) {
        return at(address, new EchoService());
    }

    static RpcServer at(URI address, EchoService service) {
        return builder(service).listen(address).start();
    }

    static RpcServer.Builder builder(EchoService service) {
        return RpcServer.builder()
                .runtimeFolder(OwnDirectory.path())
                .service(Echo.class, service)
                .dispatch(Dispatch.virtualThreads());
    }

    static RpcChannel channel(RpcServer server) {
        return channel(server.address().orElseThrow());
    }

    /**
     * Its first connection may take several attempts: on an overloaded machine, one may exceed the server's time limits
     * or its own.
     */
    static RpcChannel channel(URI address) {
        return channelTo(Echo.class, address).waitForReady(Await.BOUND).open();
    }

    /** A channel with small arenas. */
    public static RpcChannel.Builder channelTo(Class<?> service, URI address) {
        return RpcChannel.builder(ServiceDefinition.of(service).channel())
                .address(address)
                .arenaQuota(1 << 20);
    }

    /** As {@link #channelTo(Class, URI)}, to a server that answers, however busy the machine is. */
    static RpcChannel.Builder channelTo(Class<?> service, RpcServer server) {
        URI address = server.address().orElseThrow();
        return channelTo(service, address).connectTimeout(Await.BOUND);
    }
}
