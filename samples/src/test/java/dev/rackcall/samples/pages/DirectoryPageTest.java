package dev.rackcall.samples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.ChannelView;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.testkit.Await;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The part of the page on directories that shows one by itself. */
class DirectoryPageTest {
    @TempDir
    private Path folder;

    @Test
    void shouldTellWhoFollowsAChannel() {
        AtomicReference<List<Endpoint>> servers = new AtomicReference<>(List.of());
        long fingerprint = 12;
        URI address = folder.resolve("names").toUri();
        Directory directory = Directory.open(address); // zk://zk1:2181,zk2:2181/folder?lease=30s&timeout=2s
        directory.announce(
                ChannelName.of("/shop/cart"),
                Endpoint.of("cart-1", "host-a", fingerprint).withTcp(List.of(URI.create("soft://host-a:18516"))));
        ChannelView carts = directory.follow(ChannelName.of("/shop/cart"));
        carts.listen(change -> servers.set(change.now()));
        try (directory) {
            Await.until("the endpoint", () -> servers.get().size() == 1);
            assertThat(servers.get().getFirst().host()).isEqualTo("host-a");
        }
    }
}
