package dev.rackcall.samples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.ChildJvm;
import java.nio.file.Path;
import java.util.List;
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
            try (ChildJvm client = ChildJvm.start(ShopClient.class, folder)) {
                assertThat(List.of(client.awaitLine("served by "), client.awaitLine("served by ")))
                        .containsExactlyInAnyOrder("served by " + one.pid(), "served by " + other.pid());
            }
            one.terminate();
            one.awaitEnd();
            try (RpcChannel channel =
                    RpcChannel.builder("/shop/cart").runtimeFolder(folder).open()) {
                assertThat(channel.stub(Cart.class).servedBy()).isEqualTo(other.pid());
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
