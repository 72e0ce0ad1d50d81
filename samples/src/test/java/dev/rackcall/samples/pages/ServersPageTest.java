package dev.rackcall.samples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The pages on servers, on shutdown and on calls. */
class ServersPageTest {
    @TempDir
    private Path folder;

    @Test
    void shouldCallAllServersOfAName() throws InterruptedException {
        try (ChildJvm one = ChildJvm.start(ShopServer.class, folder);
                ChildJvm other = ChildJvm.start(ShopServer.class, folder)) {
            RpcChannel channel = RpcChannel.builder("/shop/cart")
                    .runtimeFolder(folder)
                    .waitForReady(Duration.ofMinutes(1))
                    .open();
            Cart cart = channel.stub(Cart.class); // calls go to all of them
            try (channel) {
                Set<Long> servers = new HashSet<>();
                Await.until("calls to both servers", () -> {
                    servers.add(cart.servedBy());
                    return servers.size() == 2;
                });
                one.terminate();
                one.awaitEnd();
                assertThat(cart.servedBy()).isEqualTo(other.pid());
            }
        }
    }

    @Test
    void shouldServeSeveralServicesOnOneConnection() {
        RpcServer server = RpcServer.builder()
                .runtimeFolder(folder)
                .service(Cart.class, new CartService())
                .service(Stock.class, good -> 12)
                .start();
        RpcChannel channel =
                RpcChannel.builder("/shop/cart").runtimeFolder(folder).open();
        Cart cart = channel.stub(Cart.class);
        Stock stock = channel.stub(Stock.class); // the same connection: the same slots, arenas and scopes
        try (server;
                channel) {
            int goods = cart.put("tea"); // one store to publish, one load to see the answer
            assertThat(goods).isEqualTo(1);
            assertThat(stock.left("tea")).isEqualTo(12);
            assertThat(server.connections()).isEqualTo(1);
        }
    }
}
