package dev.rackcall.rpc.isolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.call.Feed;
import dev.rackcall.rpc.contract.RpcFixture;
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
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a handler sees of shared arguments in each mode, and the error for an argument that may not be passed. */
@Timeout(60)
class IsolationTest extends RpcFixture {
    private final VaultService service = new VaultService();
    private RpcChannel channel;

    private void start(Isolation minimum, SandboxPolicy sandbox) {
        serve(RpcServer.builder()
                .service(Vault.class, service)
                .directory(directory)
                .minimumIsolation(minimum)
                .sandbox(sandbox));
        channel = open("/test/vault");
    }

    private Vault vault(Isolation isolation) {
        return channel.stub(Vault.class, CallOptions.DEFAULT.withIsolation(isolation));
    }

    /** The values from {@code count - 1} down to 0. */
    private static Coin coins(Scope scope, int count) {
        Coin first = null;
        for (int i = 0; i < count; i++) {
            Coin coin = scope.create(Coin.class);
            coin.value(i);
            coin.next(first == null ? Ref.nullRef() : SharedObject.toRef(first));
            first = coin;
        }
        return first;
    }

    private void meet() throws Exception {
        service.turns.exchange(true, 20, TimeUnit.SECONDS);
    }

    private static <T> CompletableFuture<T> inBackground(Callable<T> call) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                result.complete(call.call());
            } catch (Exception e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private static RpcException failure(Runnable call) {
        return catchThrowableOfType(RpcException.class, call::run);
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
        start(Isolation.TRUSTED, SandboxPolicy.STRICT);
        try (Scope scope = channel.newScope()) {
            Coin first = coins(scope, 100);

            CompletableFuture<List<Long>> sums =
                    inBackground(() -> vault(Isolation.DEFAULT).sumTwice(first));
            meet();
            first.value(1_000_000);
            first.next(SharedObject.toRef(first));
            meet();

            assertThat(sums.get(20, TimeUnit.SECONDS)).containsExactly(4950L, 4950L);
        }
    }

    @Test
    void shouldKeepASnapshotUntilAnAsynchronousCallHasEnded() throws Exception {
        start(Isolation.TRUSTED, SandboxPolicy.STRICT);
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
        start(Isolation.TRUSTED, SandboxPolicy.STRICT);
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
        start(Isolation.TRUSTED, SandboxPolicy.STRICT);
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
        start(Isolation.TRUSTED, SandboxPolicy.STRICT);
        try (Scope scope = channel.newScope()) {
            Coin coin = coins(scope, 2);

            assertThat(failure(() -> vault(Isolation.TRUSTED).sum(coin))
                            .status()
                            .code())
                    .isEqualTo(Status.Code.FAILED_PRECONDITION);
            assertThatThrownBy(() -> vault(Isolation.TRUSTED).sum(coin))
                    .hasMessageContaining("argument 'first' came as TRUSTED, but SNAPSHOT is demanded")
                    .hasMessageContaining("withIsolation");
            assertThat(vault(Isolation.TRUSTED).sumTrusted(coin)).isEqualTo(1);
            assertThat(vault(Isolation.TRUSTED).plain(3)).isEqualTo(3);
        }
    }

    @Test
    void shouldRefuseACallThatArrivesBelowWhatTheServerDemands() {
        start(Isolation.AUTO, SandboxPolicy.STRICT);
        try (Scope scope = channel.newScope()) {
            Coin coin = coins(scope, 2);

            assertThatThrownBy(() -> vault(Isolation.DEFAULT).sumTrusted(coin))
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("came as TRUSTED, but AUTO is demanded");
            assertThat(vault(Isolation.AUTO).sumTrusted(coin)).isEqualTo(1);
            assertThat(vault(Isolation.SEALED).sumTrusted(coin)).isEqualTo(1);
        }
    }

    @Test
    void shouldDenyARefOutOfTheScopeAndGoOn() {
        start(Isolation.TRUSTED, SandboxPolicy.STRICT);
        try (Scope scope = channel.newScope();
                Scope other = channel.newScope();
                Scope shared = channel.newSharedScope()) {
            Vault vault = vault(Isolation.DEFAULT);
            long before = IsolationEvents.counters().violations();
            for (Scope target : List.of(other, shared)) {
                Coin first = coins(scope, 1);
                first.next(SharedObject.toRef(coins(target, 1)));
                assertThat(failure(() -> vault.sum(first)).status().code()).isEqualTo(Status.Code.PERMISSION_DENIED);
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

            assertThat(failure(() -> vault(Isolation.DEFAULT).sum(first))
                            .status()
                            .code())
                    .isEqualTo(Status.Code.PERMISSION_DENIED);
            assertThat(vault(Isolation.DEFAULT).sum(coins(scope, 5000))).isEqualTo(12_497_500L);
        }
    }

    @Test
    void shouldRefuseArgumentsInTwoScopes() {
        start(Isolation.TRUSTED, SandboxPolicy.STRICT);
        try (Scope scope = channel.newScope();
                Scope other = channel.newScope()) {
            Vault vault = vault(Isolation.DEFAULT);
            Coin here = coins(scope, 2);
            Coin there = coins(other, 2);

            assertThatThrownBy(() -> vault.sumOfTwo(here, there))
                    .isInstanceOf(RpcException.class)
                    .hasMessageContaining("INVALID_ARGUMENT")
                    .hasMessageContaining("argument 'second' lies in another scope")
                    .hasMessageContaining("DeepCopy.DEFAULT.copy");
            assertThat(vault.sumOfTwo(here, DeepCopy.DEFAULT.copy(there, scope)))
                    .isEqualTo(2);
        }
    }

    @Test
    void shouldRefuseASnapshotLargerThanTheServerAllows() {
        start(Isolation.TRUSTED, SandboxPolicy.STRICT.withMaxSnapshot(100_000));
        try (Scope scope = channel.newScope()) {
            Coin many = coins(scope, 10_000);

            assertThat(failure(() -> vault(Isolation.SNAPSHOT).sum(many))
                            .status()
                            .code())
                    .isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        }
        try (Scope scope = channel.newScope()) {
            assertThat(vault(Isolation.SNAPSHOT).sum(coins(scope, 10))).isEqualTo(45);
        }
    }

    @Test
    void shouldFreeATemporaryScopeWhenItsCallEnds() {
        start(Isolation.TRUSTED, SandboxPolicy.STRICT);
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
        start(Isolation.TRUSTED, SandboxPolicy.STRICT);
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
        start(Isolation.TRUSTED, SandboxPolicy.STRICT);
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
