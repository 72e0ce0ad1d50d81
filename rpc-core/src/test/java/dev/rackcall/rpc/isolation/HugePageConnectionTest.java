package dev.rackcall.rpc.isolation;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SealedScopeException;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.shm.types.SharedLongArray;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * Connections in huge pages on hosts that have some ({@code sysctl vm.nr_hugepages=32}), and the behaviour on hosts
 * without.
 */
class HugePageConnectionTest extends VaultFixture {
    private static final long HUGE = 2 << 20;
    private static final int NEEDED = 16;

    private RpcServer serve(Wish wish) {
        return serve(serving(Vault.class, new VaultService()).hugePages(wish));
    }

    private static long freeHugePages() throws IOException {
        return Files.readAllLines(Path.of("/proc/meminfo")).stream()
                .filter(line -> line.startsWith("HugePages_Free:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")))
                .findFirst()
                .orElse(0);
    }

    private void assumeHugePages() throws IOException {
        long free = freeHugePages();
        if (free < NEEDED) {
            System.err.println(
                    "SKIPPED HugePageConnectionTest: " + free + " free huge pages; sysctl vm.nr_hugepages=32");
        }
        assumeThat(free).as("%d free huge pages of this host", NEEDED).isGreaterThanOrEqualTo(NEEDED);
        requireSeals();
    }

    @Test
    void shouldServeWithSmallPagesWhereHugeOnesAreOnlyPreferred() {
        RpcServer server = serve(Wish.PREFER);
        RpcChannel channel = open(Vault.class);
        assertThat(channel.stub(Vault.class).sum(coin(channel.newScope(), 5))).isEqualTo(5);
        assertThat(server.connections()).isEqualTo(1);
    }

    @Test
    void shouldNotStartWithoutTheHugePagesThatAreRequired() throws IOException {
        assumeThat(freeHugePages()).as("a host without huge pages").isZero();

        assertFails(Status.Code.FAILED_PRECONDITION, () -> serve(Wish.REQUIRE))
                .hasMessageContainingAll("/test/vault requires huge pages", "sysctl vm.nr_hugepages");
    }

    @Test
    void shouldRefuseAClientWhoseArenasAreLessThanAHugePage() throws IOException {
        assumeHugePages();
        RpcServer server = serve(Wish.REQUIRE);
        assertFails(Status.Code.RESOURCE_EXHAUSTED, channel(Vault.class).arenaQuota(HUGE / 2)::open)
                .hasMessageContaining("less than a huge page");
        assertThat(server.connections()).isZero();
    }

    @Test
    void shouldSealALargeScopeOnItsOwnHugePages() throws IOException {
        assumeHugePages();
        RpcServer server = serve(Wish.REQUIRE);
        RpcChannel channel = open(Vault.class);
        Scope small = channel.newScope();
        Scope scope = channel.newScope(2 * HUGE - 100);
        assertThat(server.connections()).isEqualTo(1);
        Coin neighbour = small.create(Coin.class);
        assertThat(scope.bytesHeld()).isEqualTo(2 * HUGE);
        assertThat(Ref.offset(scope.firstRun()) % HUGE).isZero();
        Coin coin = scope.create(Coin.class);
        SharedLongArray.create(scope, 300_000);
        coin.value(5);
        Vault sealing = vault(channel, Isolation.SEALED);
        long seals = IsolationEvents.counters().seals();

        assertThat(sealing.sum(coin)).isEqualTo(5);
        assertThat(IsolationEvents.counters().seals() - seals).isEqualTo(1);
        assertThrown(
                SealedScopeException.class,
                () -> Seals.guarded(() ->
                        scope.arena().memory().set(ValueLayout.JAVA_LONG, Ref.offset(scope.firstRun()) + HUGE + 8, 1)));
        neighbour.value(1);
        coin.value(6);
        assertThat(sealing.sum(coin)).isEqualTo(6);

        assertThat(sealing.sum(neighbour))
                .as("not on pages of its own, so copied")
                .isEqualTo(1);
        assertThat(IsolationEvents.counters().seals() - seals).isEqualTo(2);
    }

    @Test
    void shouldGoOnWhereTheHugePagesEnd() throws IOException {
        assumeHugePages();
        RpcServer server = serve(Wish.PREFER);
        RpcChannel first = open(Vault.class);
        long more = freeHugePages() / 3 + 1;
        for (long i = 0; i < more; i++) {
            assertThat(connect(Vault.class).plain(i)).isEqualTo(i);
        }
        assertThat((long) server.connections()).isEqualTo(1 + more);
        assertThatThrownBy(() -> first.newScope(64 << 20)).hasMessageContaining("vm.nr_hugepages");
    }
}
