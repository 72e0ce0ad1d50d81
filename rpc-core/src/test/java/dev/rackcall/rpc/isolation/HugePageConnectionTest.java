package dev.rackcall.rpc.isolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SealedScopeException;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.shm.types.SharedLongArray;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Connections in huge pages on hosts that have some ({@code sysctl vm.nr_hugepages=32}), and the behaviour on hosts
 * without.
 */
@Timeout(60)
class HugePageConnectionTest {
    private static final long HUGE = 2 << 20;
    private static final int NEEDED = 16;

    @TempDir
    Path directory;

    private RpcServer serve(Wish wish) {
        return RpcServer.builder()
                .service(Vault.class, new VaultService())
                .hugePages(wish)
                .directory(directory)
                .start();
    }

    private RpcChannel open() {
        return RpcChannel.builder("/test/vault").directory(directory).open();
    }

    private static long freeHugePages() throws IOException {
        return Files.readAllLines(Path.of("/proc/meminfo")).stream()
                .filter(line -> line.startsWith("HugePages_Free:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")))
                .findFirst()
                .orElse(0);
    }

    private static void assumeHugePages() throws IOException {
        long free = freeHugePages();
        if (free < NEEDED) {
            System.err.println(
                    "SKIPPED HugePageConnectionTest: " + free + " free huge pages; sysctl vm.nr_hugepages=32");
        }
        assumeThat(free).as("%d free huge pages of this host", NEEDED).isGreaterThanOrEqualTo(NEEDED);
        try {
            Userfault.open().close();
        } catch (UnsupportedFeatureException e) {
            System.err.println("SKIPPED HugePageConnectionTest: " + e.getMessage());
            assumeThat(e).isNull();
        }
    }

    @Test
    void shouldServeWithSmallPagesWhereHugeOnesAreOnlyPreferred() {
        try (RpcServer server = serve(Wish.PREFER);
                RpcChannel channel = open();
                Scope scope = channel.newScope()) {
            Coin coin = scope.create(Coin.class);
            coin.value(5);
            assertThat(channel.stub(Vault.class).sum(coin)).isEqualTo(5);
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldNotStartWithoutTheHugePagesThatAreRequired() throws IOException {
        assumeThat(freeHugePages()).as("a host without huge pages").isZero();

        assertThatThrownBy(() -> serve(Wish.REQUIRE))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("FAILED_PRECONDITION")
                .hasMessageContaining("/test/vault requires huge pages")
                .hasMessageContaining("sysctl vm.nr_hugepages");
    }

    @Test
    void shouldRefuseAClientWhoseArenasAreLessThanAHugePage() throws IOException {
        assumeHugePages();
        try (RpcServer server = serve(Wish.REQUIRE)) {
            assertThatThrownBy(() -> RpcChannel.builder("/test/vault")
                            .directory(directory)
                            .arenaQuota(HUGE / 2)
                            .open())
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("RESOURCE_EXHAUSTED")
                    .hasMessageContaining("less than a huge page");
            assertThat(server.connections()).isZero();
        }
    }

    @Test
    void shouldSealALargeScopeOnItsOwnHugePages() throws IOException {
        assumeHugePages();
        try (RpcServer server = serve(Wish.REQUIRE);
                RpcChannel channel = open();
                Scope small = channel.newScope();
                Scope scope = channel.newScope(2 * HUGE - 100)) {
            assertThat(server.connections()).isEqualTo(1);
            Coin neighbour = small.create(Coin.class);
            assertThat(scope.bytesHeld()).isEqualTo(2 * HUGE);
            assertThat(Ref.offset(scope.firstRun()) % HUGE).isZero();
            Coin coin = scope.create(Coin.class);
            SharedLongArray.create(scope, 300_000);
            coin.value(5);
            Vault sealing = channel.stub(Vault.class, CallOptions.DEFAULT.withIsolation(Isolation.SEALED));
            long seals = IsolationEvents.counters().seals();

            assertThat(sealing.sum(coin)).isEqualTo(5);
            assertThat(IsolationEvents.counters().seals() - seals).isEqualTo(1);
            assertThatThrownBy(() -> Seals.guarded(() -> scope.arena()
                            .memory()
                            .set(ValueLayout.JAVA_LONG, Ref.offset(scope.firstRun()) + HUGE + 8, 1)))
                    .isInstanceOf(SealedScopeException.class);
            neighbour.value(1);
            coin.value(6);
            assertThat(sealing.sum(coin)).isEqualTo(6);

            assertThat(sealing.sum(neighbour))
                    .as("not on pages of its own, so copied")
                    .isEqualTo(1);
            assertThat(IsolationEvents.counters().seals() - seals).isEqualTo(2);
        }
    }

    @Test
    void shouldGoOnWhereTheHugePagesEnd() throws IOException {
        assumeHugePages();
        try (RpcServer server = serve(Wish.PREFER)) {
            List<RpcChannel> channels = new ArrayList<>();
            try {
                long free = freeHugePages();
                for (long i = 0; i <= free / 3; i++) {
                    RpcChannel channel = open();
                    channels.add(channel);
                    assertThat(channel.stub(Vault.class).plain(i)).isEqualTo(i);
                }
                assertThat(server.connections()).isEqualTo(channels.size());
                assertThatThrownBy(() -> channels.getFirst().newScope(64 << 20))
                        .hasMessageContaining("vm.nr_hugepages");
            } finally {
                channels.forEach(RpcChannel::close);
            }
        }
    }
}
