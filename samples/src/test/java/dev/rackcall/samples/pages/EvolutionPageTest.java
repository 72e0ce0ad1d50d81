package dev.rackcall.samples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.pages.later.Cart;
import dev.rackcall.samples.pages.later.Cart.Item;
import dev.rackcall.samples.pages.later.Cart.Page;
import dev.rackcall.samples.pages.later.Cart.Size;
import dev.rackcall.shm.Scope;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page on changing a service; {@code EvolutionTest} lets clients and servers of two versions call each other. */
class EvolutionPageTest {
    @TempDir
    private Path folder;

    private record Shelf(List<Item> added) implements Cart {
        @Override
        public void add(Item item) {
            added.add(item);
        }

        @Override
        public void clear() {
            added.clear();
        }

        @Override
        public long words(Page page, long from) {
            return page.id() + page.lines() + from;
        }
    }

    @Test
    void shouldServeTheChangedService() {
        List<Item> added = new CopyOnWriteArrayList<>();
        try (RpcServer _ = RpcServer.builder()
                        .runtimeFolder(folder)
                        .service(Cart.class, new Shelf(added))
                        .start();
                RpcChannel channel =
                        RpcChannel.builder("/shop/cart").runtimeFolder(folder).open();
                Scope scope = channel.newScope()) {
            Cart cart = channel.stub(Cart.class);
            Item item = new Item("tea", 2, Size.HUGE, Optional.of("green"), 3, List.of("hot"));
            cart.add(item);
            assertThat(added).containsExactly(item);
            cart.clear();
            assertThat(added).isEmpty();
            Page page = scope.create(Page.class);
            page.id(7);
            page.lines(3);
            assertThat(cart.words(page, 5)).isEqualTo(15);
        }
    }
}
