package dev.rackcall.samples.pages;

import dev.rackcall.rpc.RpcChannel;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/** A client in a process of its own, which prints each server that it calls, and ends when it has called two. */
final class ShopClient {
    private ShopClient() {}

    static void main(String[] arguments) {
        RpcChannel channel = RpcChannel.builder("/shop/cart")
                .waitForReady(Duration.ofMinutes(1))
                .open();
        Cart cart = channel.stub(Cart.class); // calls go to all servers of this name
        try (channel) {
            Set<Long> servers = new HashSet<>();
            while (servers.size() < 2) {
                long server = cart.servedBy();
                if (servers.add(server)) {
                    System.out.println("served by " + server);
                }
            }
        }
    }
}
