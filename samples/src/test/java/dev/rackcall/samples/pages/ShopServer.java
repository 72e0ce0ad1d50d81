package dev.rackcall.samples.pages;

import dev.rackcall.rpc.RpcServer;
import java.time.Duration;

/** A server in a process of its own, which completes its calls before it ends. */
final class ShopServer {
    private ShopServer() {}

    static void main(String[] arguments) throws InterruptedException {
        RpcServer server =
                RpcServer.builder().service(Cart.class, new CartService()).start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> server.shutdown(Duration.ofSeconds(30))));
        System.out.println("serving " + server.channels());
        server.awaitTermination(); // Rackcall's threads do not keep the JVM alive
    }
}
