package dev.rackcall.rdma;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.spi.ServiceDefinition;
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

    static RpcChannel channel(URI address) {
        return channelTo(Echo.class, address).open();
    }

    /** A channel with small arenas. */
    public static RpcChannel.Builder channelTo(Class<?> service, URI address) {
        return RpcChannel.builder(ServiceDefinition.of(service).channel())
                .address(address)
                .arenaQuota(1 << 20);
    }

    static RpcChannel.Builder channelTo(Class<?> service, RpcServer server) {
        return channelTo(service, server.address().orElseThrow());
    }
}
