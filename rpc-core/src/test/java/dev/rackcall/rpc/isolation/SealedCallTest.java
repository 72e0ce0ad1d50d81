package dev.rackcall.rpc.isolation;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SealedScopeException;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A caller cannot change the arguments of a sealed call between sending it and its end. */
class SealedCallTest extends VaultFixture {
    private static final int SECONDS = 20;

    private final Service service = new Service();
    private RpcChannel channel;
    private Scope scope;
    private Coin coin;

    private static final class Service extends ReadingVault {
        private final Exchanger<Boolean> turns = new Exchanger<>();
        private volatile long told;

        private void meet() {
            try {
                turns.exchange(true, SECONDS, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public List<Long> valueTwice(Coin argument) {
            long before = argument.value();
            meet();
            meet();
            return List.of(before, argument.value());
        }

        @Override
        public CompletableFuture<List<Long>> valueTwiceLater(Coin argument) {
            CompletableFuture<List<Long>> values = new CompletableFuture<>();
            Thread.ofVirtual().start(() -> values.complete(valueTwice(argument)));
            return values;
        }

        @Override
        public Stream<Long> values(Coin argument) {
            return Stream.generate(argument::value).limit(1000);
        }

        @Override
        public void tell(Coin argument) {
            meet();
            told = argument.value();
            meet();
        }
    }

    @BeforeEach
    void start() {
        requireSeals();
        serve(SealedVault.class, service);
        channel = open(channel(SealedVault.class).sealFrom(100_000));
        scope = channel.newScope();
        coin = coin(scope, 5);
    }

    private SealedVault vault() {
        return channel.stub(SealedVault.class);
    }

    private void meet() throws Exception {
        service.turns.exchange(true, SECONDS, TimeUnit.SECONDS);
    }

    private void isSealedBy(String method) {
        assertThrown(SealedScopeException.class, () -> coin.value(6), "is sealed by /test/sealed/" + method);
        assertThat(coin.value()).isEqualTo(5);
    }

    private void isOpenAgain() {
        coin.value(7);
        assertThat(coin.value()).isEqualTo(7);
        assertThat(vault().value(coin)).isEqualTo(7);
        coin.value(5);
    }

    @Test
    void shouldRefuseStoresUntilTheCallHasEnded() throws Exception {
        long seals = IsolationEvents.counters().seals();
        CompletableFuture<List<Long>> values = Concurrently.start(() -> vault().valueTwice(coin));
        meet();
        isSealedBy("valueTwice");
        assertThatThrownBy(() -> scope.allocate(8)).isInstanceOf(SealedScopeException.class);
        assertThatThrownBy(scope::reset).isInstanceOf(SealedScopeException.class);
        endsUnchanged(values);
        assertThat(IsolationEvents.counters().seals() - seals).isEqualTo(2);
    }

    @Test
    void shouldSealForAnAsynchronousCallUntilItsFutureEnds() throws Exception {
        CompletableFuture<List<Long>> values = vault().valueTwiceLater(coin);
        meet();
        isSealedBy("valueTwiceLater");
        endsUnchanged(values);
    }

    @Test
    void shouldSealForAOneWayCallUntilItsHandlerHasReturned() throws Exception {
        vault().tell(coin);
        isSealedBy("tell");
        meet();
        meet();

        Await.until("the handler has returned", this::canBeChanged);
        assertThat(service.told).isEqualTo(5);
    }

    @Test
    void shouldSealForAStreamUntilItsLastElement() {
        var values = vault().values(coin).iterator();
        isSealedBy("values");
        for (int i = 0; i < 1000; i++) {
            assertThat(values.next()).isEqualTo(5);
        }
        assertThat(values.hasNext()).isFalse();

        Await.until("the stream has ended", this::canBeChanged);
    }

    private boolean canBeChanged() {
        try {
            coin.value(6);
            return true;
        } catch (SealedScopeException e) {
            return false;
        }
    }

    @Test
    void shouldOpenTheScopeOfACallThatFails() {
        assertThatThrownBy(() -> vault().fail(coin)).hasMessageContaining("on purpose");
        isOpenAgain();
    }

    @Test
    void shouldPassOneScopeToOneCallAtATime() throws Exception {
        CompletableFuture<List<Long>> values = Concurrently.start(() -> vault().valueTwice(coin));
        meet();

        assertFails(Status.Code.FAILED_PRECONDITION, () -> vault().value(coin))
                .hasMessageContaining("is sealed by /test/sealed/valueTwice");
        endsUnchanged(values);
    }

    private void endsUnchanged(CompletableFuture<List<Long>> values) throws Exception {
        meet();
        assertThat(values.get(SECONDS, TimeUnit.SECONDS)).containsExactly(5L, 5L);
        isOpenAgain();
    }

    @Test
    void shouldKeepTheScopeOfALateHandlerSealedAndFreeItWhenItIsDone() throws Exception {
        // The call must begin before its deadline, even if the machine stalls for two or three seconds.
        SealedVault hasty = channel.stub(SealedVault.class, within(Duration.ofSeconds(5)));
        CompletableFuture<List<Long>> values = Concurrently.start(() -> hasty.valueTwice(coin));
        meet();
        assertThatThrownBy(() -> values.get(SECONDS, TimeUnit.SECONDS)).hasMessageContaining("DEADLINE_EXCEEDED");
        isSealedBy("valueTwice");
        long used = scope.arena().usedBytes();
        scope.close();
        assertThat(scope.arena().usedBytes()).isEqualTo(used);
        meet();

        Await.until("the late handler's scope is free", () -> {
            try (Scope other = channel.newScope()) {
                vault().value(coin(other, 0));
            }
            return scope.arena().usedBytes() < used;
        });
    }

    @Test
    void shouldCopyWhatIsSealedWhereTheMethodBelievesNoCaller() throws Exception {
        SealedVault sealing = sealed(channel, Isolation.SEALED);
        CompletableFuture<List<Long>> values = Concurrently.start(() -> sealing.copyTwice(coin));
        meet();
        isSealedBy("copyTwice");
        endsUnchanged(values);
    }

    @Test
    void shouldLeaveAScopeSealedUntilItIsUsed() {
        IsolationEvents.Counters before = IsolationEvents.counters();
        for (int i = 0; i < 10; i++) {
            assertThat(vault().value(coin)).isEqualTo(5);
            assertThat(scope.isSealed()).isTrue();
        }
        IsolationEvents.Counters after = IsolationEvents.counters();
        assertThat(after.seals() - before.seals()).isEqualTo(10);
        assertThat(after.releasePasses() - before.releasePasses()).isZero();

        coin.value(6);
        assertThat(scope.isSealed()).isFalse();
        assertThat(vault().value(coin)).isEqualTo(6);

        long used = scope.arena().usedBytes();
        scope.close();
        assertThat(scope.arena().usedBytes()).isLessThan(used);
    }

    @Test
    void shouldOpenAScopeAtOnceForStoresPastItsObjects() {
        RpcChannel raw = open(channel(SealedVault.class).keepSealed(0));
        Scope there = raw.newScope();
        Coin coinThere = coin(there, 5);
        long free = Ref.offset(there.firstRun()) + 2000;
        assertThat(raw.stub(SealedVault.class).value(coinThere)).isEqualTo(5);
        assertThat(there.isSealed()).isFalse();
        Seals.guarded(() -> there.arena().memory().set(ValueLayout.JAVA_LONG, free, 1));

        assertThrown(
                IllegalArgumentException.class,
                () -> RpcChannel.builder("/test/sealed").keepSealed(-1));
    }

    @Test
    void shouldSayThatARawStoreCameAfterTheCallAndLetTheNextOnePass() {
        assertThat(vault().value(coin)).isEqualTo(5);
        MemorySegment memory = scope.arena().memory();
        long free = Ref.offset(scope.firstRun()) + 2000;

        assertThrown(
                SealedScopeException.class,
                () -> Seals.guarded(() -> memory.set(ValueLayout.JAVA_LONG, free, 1)),
                "/test/sealed/value, which has ended",
                "store again");
        Seals.guarded(() -> memory.set(ValueLayout.JAVA_LONG, free, 1));
        assertThat(vault().value(coin)).isEqualTo(5);
    }

    @Test
    void shouldLetAutoSealASmallScopeThatStaysAsItIs() {
        SealedVault auto = sealed(channel, Isolation.AUTO);
        try (Scope still = channel.newScope(12_000);
                Scope changing = channel.newScope(12_000)) {
            Coin constant = still.create(Coin.class);
            Coin counter = changing.create(Coin.class);
            long seals = IsolationEvents.counters().seals();
            for (int i = 0; i < 500; i++) {
                assertThat(auto.value(constant)).isZero();
            }
            assertThat(IsolationEvents.counters().seals() - seals).isGreaterThan(450);

            seals = IsolationEvents.counters().seals();
            for (int i = 0; i < 500; i++) {
                counter.value(i);
                assertThat(auto.value(counter)).isEqualTo(i);
            }
            assertThat(IsolationEvents.counters().seals() - seals).isBetween(1L, 10L);
        }
    }

    @Test
    void shouldLetAutoCopyAScopeThatAnotherCallHasSealed() throws Exception {
        SealedVault auto = sealed(channel, Isolation.AUTO);
        scope.allocate(100_000);
        CompletableFuture<List<Long>> values = Concurrently.start(() -> vault().valueTwice(coin));
        meet();
        CompletableFuture<Long> other = Concurrently.start(() -> auto.value(coin));
        meet();
        assertThat(values.get(SECONDS, TimeUnit.SECONDS)).containsExactly(5L, 5L);
        assertThat(other.get(SECONDS, TimeUnit.SECONDS)).isEqualTo(5);
    }

    @Test
    void shouldLetAutoSealLargeScopesOnly() {
        SealedVault auto = sealed(channel, Isolation.AUTO);
        long seals = IsolationEvents.counters().seals();
        assertThat(auto.value(coin)).isEqualTo(5);
        assertThat(IsolationEvents.counters().seals()).isEqualTo(seals);

        try (Scope large = channel.newScope(1 << 20)) {
            assertThat(auto.value(coin(large, 9))).isEqualTo(9);
        }
        assertThat(IsolationEvents.counters().seals()).isEqualTo(seals + 1);
    }

    @Test
    void shouldLetAutoTryBothWaysWithALargeScopeThatChanges() {
        RpcChannel unset = open(SealedVault.class);
        Scope large = unset.newScope(2 << 20);
        SealedVault auto = sealed(unset, Isolation.AUTO);
        Coin counter = large.create(Coin.class);
        long seals = IsolationEvents.counters().seals();
        int calls = 200;
        for (int i = 0; i < calls; i++) {
            counter.value(i);
            // Opens all of it.
            large.allocate(8);
            assertThat(auto.value(counter)).isEqualTo(i);
        }
        assertThat(IsolationEvents.counters().seals() - seals).isBetween(2L, calls - 1L);
    }

    @Test
    void shouldCopyScopesOfTheSharedArenaInsteadOfSealingThem() {
        try (Scope shared = channel.newSharedScope()) {
            long seals = IsolationEvents.counters().seals();
            assertThat(vault().value(coin(shared, 4))).isEqualTo(4);
            assertThat(IsolationEvents.counters().seals()).isEqualTo(seals);
        }
    }

    @Test
    void shouldKeepTheSandboxAroundASealedScope() {
        try (Scope other = channel.newScope()) {
            coin.next(SharedObject.toRef(other.create(Coin.class)));
            assertThat(vault().value(coin)).isEqualTo(5);
            assertThatCode(() -> coin.value(5)).doesNotThrowAnyException();
        }
    }

    @Test
    void shouldEndSealsWithTheConnection() throws Exception {
        CompletableFuture<List<Long>> values = Concurrently.start(() -> vault().valueTwice(coin));
        meet();
        channel.close();
        assertThatThrownBy(() -> values.get(SECONDS, TimeUnit.SECONDS)).hasCauseInstanceOf(RpcException.class);
        meet();
        assertThatThrownBy(() -> scope.allocate(8)).isInstanceOf(RuntimeException.class);
        scope.close();
    }
}
