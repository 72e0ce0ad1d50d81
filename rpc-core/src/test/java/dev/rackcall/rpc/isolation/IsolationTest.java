package dev.rackcall.rpc.isolation;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.call.Feed;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.shm.types.DeepCopy;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a handler sees of shared arguments in each mode, and the error for an argument that may not be passed. */
class IsolationTest extends VaultFixture {
    private final VaultService service = new VaultService();
    private RpcChannel channel;

    private void start(Isolation minimum, SandboxPolicy sandbox) {
        serve(serving(Vault.class, service).minimumIsolation(minimum).sandbox(sandbox));
        channel = open(Vault.class);
    }

    private void start() {
        start(Isolation.TRUSTED, SandboxPolicy.STRICT);
    }

    private Vault vault(Isolation isolation) {
        return vault(channel, isolation);
    }

    /** The values from {@code count - 1} down to 0. */
    private static Coin coins(Scope scope, int count) {
        Coin first = null;
        for (int i = 0; i < count; i++) {
            Coin coin = coin(scope, i);
            coin.next(first == null ? Ref.nullRef() : SharedObject.toRef(first));
            first = coin;
        }
        return first;
    }

    private void meet() throws Exception {
        service.turns.exchange(true, 20, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @EnumSource(Isolation.class)
    void shouldPassGraphsOfAnySizeInEveryMode(Isolation isolation) {
        start(Isolation.TRUSTED, SandboxPolicy.STRICT);
        Vault vault = isolation == Isolation.TRUSTED ? null : vault(isolation);
        for (int count : List.of(1, 100, 5000, 200_000, 10)) {
            try (Scope mine = channel.newScope();
                    Scope shared = channel.newSharedScope()) {
                long expected = (long) count * (count - 1) / 2;
                if (vault == null) {
                    assertThat(vault(isolation).sumTrusted(coins(mine, count))).isEqualTo(expected);
                } else {
                    assertThat(vault.sum(coins(mine, count))).isEqualTo(expected);
                    assertThat(vault.sum(coins(shared, count))).isEqualTo(expected);
                    assertThat(vault.sumOfTwo(coins(mine, 2), coins(mine, 3))).isEqualTo(4);
                    assertThat(vault.plain(7)).isEqualTo(7);
                }
            }
        }
    }

    @Test
    void shouldShowAHandlerItsSnapshotWhateverTheCallerWrites() throws Exception {
        start();
        try (Scope scope = channel.newScope()) {
            Coin first = coins(scope, 100);

            CompletableFuture<List<Long>> sums =
                    Concurrently.start(() -> vault(Isolation.DEFAULT).sumTwice(first));
            meet();
            first.value(1_000_000);
            first.next(SharedObject.toRef(first));
            meet();

            assertThat(sums.get(20, TimeUnit.SECONDS)).containsExactly(4950L, 4950L);
        }
    }

    @Test
    void shouldKeepASnapshotUntilAnAsynchronousCallHasEnded() throws Exception {
        start();
        try (Scope scope = channel.newScope()) {
            Coin first = coins(scope, 100);
            CompletableFuture<Long> sum = vault(Isolation.DEFAULT).sumLater(first);
            for (int i = 0; i < 200; i++) {
                assertThat(vault(Isolation.DEFAULT).sum(coins(scope, 2))).isEqualTo(1);
            }
            first.value(1_000_000);
            meet();

            assertThat(sum.get(20, TimeUnit.SECONDS)).isEqualTo(4950);
        }
    }

    @Test
    void shouldKeepASnapshotUntilAStreamIsRead() {
        start();
        try (Scope scope = channel.newScope();
                Scope other = channel.newScope()) {
            Vault vault = vault(Isolation.DEFAULT);
            Coin first = coins(scope, 1000);
            var values = vault.values(first).iterator();
            for (int i = 0; i < 200; i++) {
                assertThat(vault.sum(coins(other, 2))).isEqualTo(1);
            }
            for (int i = 0; i < 1000; i++) {
                assertThat(values.next()).isEqualTo(999 - i);
            }
        }
    }

    @Test
    void shouldReturnTheCallersOwnObjectForItsSnapshot() {
        start();
        try (Scope scope = channel.newScope()) {
            Coin first = coins(scope, 1);
            Coin same = vault(Isolation.DEFAULT).same(first);

            assertThat(same).isEqualTo(first);
            first.value(5);
            assertThat(same.value()).isEqualTo(5);
        }
    }

    @Test
    void shouldRefuseACallThatArrivesBelowWhatItsMethodDeclares() {
        start();
        try (Scope scope = channel.newScope()) {
            Coin coin = coins(scope, 2);
            assertFails(
                            Status.Code.FAILED_PRECONDITION,
                            () -> vault(Isolation.TRUSTED).sum(coin))
                    .hasMessageContainingAll(
                            "argument 'first' came as TRUSTED, but SNAPSHOT is demanded", "withIsolation");
            assertThat(vault(Isolation.TRUSTED).sumTrusted(coin)).isEqualTo(1);
            assertThat(vault(Isolation.TRUSTED).plain(3)).isEqualTo(3);
        }
    }

    @Test
    void shouldRefuseACallThatArrivesBelowWhatTheServerDemands() {
        start(Isolation.AUTO, SandboxPolicy.STRICT);
        try (Scope scope = channel.newScope()) {
            Coin coin = coins(scope, 2);

            assertThrown(
                    RpcException.class,
                    () -> vault(Isolation.DEFAULT).sumTrusted(coin),
                    "came as TRUSTED, but AUTO is demanded");
            assertThat(vault(Isolation.AUTO).sumTrusted(coin)).isEqualTo(1);
            assertThat(vault(Isolation.SEALED).sumTrusted(coin)).isEqualTo(1);
        }
    }

    @Test
    void shouldDenyARefOutOfTheScopeAndGoOn() {
        start();
        try (Scope scope = channel.newScope();
                Scope other = channel.newScope();
                Scope shared = channel.newSharedScope()) {
            Vault vault = vault(Isolation.DEFAULT);
            long before = IsolationEvents.counters().violations();
            for (Scope target : List.of(other, shared)) {
                Coin first = coins(scope, 1);
                first.next(SharedObject.toRef(coins(target, 1)));
                assertFails(Status.Code.PERMISSION_DENIED, () -> vault.sum(first));
                assertThatThrownBy(() -> vault.sum(first))
                        .hasMessageContaining("nor into an arena that the service declared");
            }
            assertThat(vault.sum(coins(scope, 3))).isEqualTo(3);
            assertThat(IsolationEvents.counters().violations() - before).isEqualTo(4);
        }
    }

    @Test
    void shouldFollowRefsIntoTheSharedArenaIfTheServiceSaysSo() {
        start(Isolation.TRUSTED, SandboxPolicy.STRICT.withSharedArena());
        try (Scope scope = channel.newScope();
                Scope shared = channel.newSharedScope()) {
            Coin first = coins(scope, 1);
            first.next(SharedObject.toRef(coins(shared, 4)));

            assertThat(vault(Isolation.DEFAULT).sum(first)).isEqualTo(6);
        }
    }

    @Test
    void shouldEndAWalkRoundACycleAtTheDeclaredBound() {
        start(Isolation.TRUSTED, SandboxPolicy.STRICT.withMaxRefs(10_000));
        try (Scope scope = channel.newScope()) {
            Coin first = coins(scope, 1);
            first.next(SharedObject.toRef(first));

            assertFails(
                    Status.Code.PERMISSION_DENIED,
                    () -> vault(Isolation.DEFAULT).sum(first));
            assertThat(vault(Isolation.DEFAULT).sum(coins(scope, 5000))).isEqualTo(12_497_500L);
        }
    }

    @Test
    void shouldRefuseArgumentsInTwoScopes() {
        start();
        try (Scope scope = channel.newScope();
                Scope other = channel.newScope()) {
            Vault vault = vault(Isolation.DEFAULT);
            Coin here = coins(scope, 2);
            Coin there = coins(other, 2);

            assertFails(Status.Code.INVALID_ARGUMENT, () -> vault.sumOfTwo(here, there))
                    .hasMessageContainingAll("argument 'second' lies in another scope", "DeepCopy.DEFAULT.copy");
            assertThat(vault.sumOfTwo(here, DeepCopy.DEFAULT.copy(there, scope)))
                    .isEqualTo(2);
        }
    }

    @Test
    void shouldRefuseASnapshotLargerThanTheServerAllows() {
        start(Isolation.TRUSTED, SandboxPolicy.STRICT.withMaxSnapshot(100_000));
        try (Scope scope = channel.newScope()) {
            Coin many = coins(scope, 10_000);

            assertFails(
                    Status.Code.RESOURCE_EXHAUSTED,
                    () -> vault(Isolation.SNAPSHOT).sum(many));
        }
        try (Scope scope = channel.newScope()) {
            assertThat(vault(Isolation.SNAPSHOT).sum(coins(scope, 10))).isEqualTo(45);
        }
    }

    @Test
    void shouldFreeATemporaryScopeWhenItsCallEnds() {
        start();
        try (Scope scope = channel.newScope()) {
            for (int i = 1; i < 200; i++) {
                assertThat(vault(Isolation.DEFAULT).largest(coins(scope, i))).isEqualTo(i - 1);
                assertThat(vault(Isolation.TRUSTED).sumTrusted(coins(scope, 2))).isEqualTo(1);
            }
            Await.until("the temporary scope is closed", () -> !service.temporary.isOpen());
            assertThat(service.temporary.arena().usedBytes()).isZero();
            assertThatThrownBy(() -> service.temporary.allocate(8)).isInstanceOf(ScopeException.class);
        }
    }

    @Test
    void shouldLeadNowhereOnceTheCallHasEnded() {
        start();
        try (Scope scope = channel.newScope()) {
            assertThat(vault(Isolation.DEFAULT).sum(coins(scope, 2))).isEqualTo(1);
            Coin into = SharedType.of(Coin.class).flyweight();

            assertThatThrownBy(() -> service.kept.next(into)).isInstanceOf(RefException.class);
        }
    }

    /** The handler's stream ends and closes before most of its elements are encoded. */
    @ParameterizedTest
    @EnumSource(
            value = Isolation.class,
            names = {"SNAPSHOT", "SEALED", "AUTO"})
    void shouldKeepArgumentsUntilTheLastElementIsEncoded(Isolation isolation) throws Exception {
        start();
        for (int round = 0; round < 20; round++) {
            try (Scope mine = channel.newScope();
                    Stream<Feed.Item> items = vault(isolation).readLate(coins(mine, 5))) {
                var values = items.iterator();
                assertThat(values.next().values()).containsExactly(4L);
                meet();
                for (int i = 1; i < 10; i++) {
                    assertThat(values.next().values()).containsExactly(4L);
                }
                assertThat(values.hasNext()).isFalse();
            }
        }
    }
}
