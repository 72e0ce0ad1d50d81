package dev.rackcall.rpc.death;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.TwoHosts;
import java.nio.file.Path;

/** A process with a server of a pool. It prints "serving" and, when the server has ended by itself, "ended". */
final class PoolServerChild {
    private PoolServerChild() {}

    /**
     * The program.
     *
     * @param arguments the pool's file, and whether the server is exclusive
     */
    public static void main(String[] arguments) throws InterruptedException {
        Pool pool = TwoHosts.host(Path.of(arguments[0]), 0);
        RpcServer.Builder builder =
                RpcServer.builder().service(Echo.class, new EchoService()).pool(pool);
        RpcServer server = (Boolean.parseBoolean(arguments[1]) ? builder.exclusive() : builder).start();
        System.out.println("serving");
        server.awaitTermination();
        System.out.println("ended " + server.state());
    }
}
