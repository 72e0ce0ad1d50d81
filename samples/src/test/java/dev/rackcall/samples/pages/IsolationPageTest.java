package dev.rackcall.samples.pages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.samples.pages.Documents.Document;
import dev.rackcall.samples.pages.Search.Counter;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page on isolation. */
class IsolationPageTest {
    @TempDir
    private Path folder;

    @Test
    void shouldIsolateAsCallerOrServerAsks() {
        RpcServer server = RpcServer.builder()
                .runtimeFolder(folder)
                .service(Search.class, new Search.Index())
                .minimumIsolation(Isolation.SNAPSHOT)
                .start();
        RpcChannel channel =
                RpcChannel.builder("/shop/search").runtimeFolder(folder).open();
        Search careful = channel.stub(Search.class, CallOptions.DEFAULT.withIsolation(Isolation.SNAPSHOT));
        try (server;
                channel;
                Scope scope = channel.newScope()) {
            Document document = scope.create(Document.class).title("tea");
            assertThat(careful.index(document)).isEqualTo(3);
            assertThat(careful.count(document)).isEqualTo(3);
            Search search = channel.stub(Search.class);
            assertThat(search.index(document)).isEqualTo(3);
            assertThatThrownBy(() -> search.count(document)).hasMessageContaining("FAILED_PRECONDITION");
            Counter counter = channel.newScope().create(Counter.class).value(6);
            search.bump(counter);
            assertThat(counter.value()).isEqualTo(7);
        }
    }

    /** No holder serves here, so both ends work without one. */
    @Test
    void shouldPreferEnforcedSeals() {
        Path holder = folder.resolve("seals");
        RpcServer server = RpcServer.builder()
                .runtimeFolder(folder)
                .service(Search.class, new Search.Index())
                .sandbox(SandboxPolicy.STRICT.withEnforcedSeals(holder, Wish.PREFER)) // or REQUIRE
                .start();
        RpcChannel channel = RpcChannel.builder("/shop/search")
                .runtimeFolder(folder)
                .enforcedSeals(holder, Wish.PREFER) // or REQUIRE
                .open();
        try (server;
                channel;
                Scope scope = channel.newScope()) {
            Document document = scope.create(Document.class).title("tea");
            assertThat(channel.stub(Search.class).index(document)).isEqualTo(3);
        }
    }

    @Test
    void shouldPreferProtectionKeys() {
        try (RpcServer _ = RpcServer.builder()
                        .runtimeFolder(folder)
                        .service(Search.class, new Search.Index())
                        .sandbox(SandboxPolicy.STRICT.withProtectionKeys(Wish.PREFER)) // or REQUIRE
                        .start();
                RpcChannel channel =
                        RpcChannel.builder("/shop/search").runtimeFolder(folder).open();
                Scope scope = channel.newScope()) {
            Document document = scope.create(Document.class).title("tea");
            assertThat(channel.stub(Search.class).index(document)).isEqualTo(3);
        }
    }
}
