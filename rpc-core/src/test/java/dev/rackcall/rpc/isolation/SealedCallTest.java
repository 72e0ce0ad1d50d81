package dev.rackcall.rpc.isolation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.isolation.Vault.Coin;
import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SealedScopeException;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Await;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A caller cannot change the arguments of a sealed call between sending it and its end. */
@Timeout(60)
class SealedCallTest {
    private static final int SECONDS = 20;

    @TempDir
    Path directory;

    private final Service service = new Service();
    private RpcServer server;
    private RpcChannel channel;
    private Scope scope;
    private Coin coin;

    private static final class Service implements SealedVault {
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
        public List<Long> copyTwice(Coin argument) {
            return valueTwice(argument);
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

        @Override
        public long fail(Coin argument) {
            throw Status.Code.ABORTED.with("on purpose").asException();
        }

        @Override
        public long value(Coin argument) {
            return argument.value();
        }
    }

    @BeforeEach
    void start() {
        try {
            Userfault.open().close();
        } catch (UnsupportedFeatureException e) {
            System.err.println("SKIPPED SealedCallTest: " + e.getMessage());
            assumeThat(e).isNull();
        }
        server = RpcServer.builder()
                .service(SealedVault.class, service)
                .directory(directory)
                .start();
        channel = RpcChannel.builder("/test/sealed")
                .directory(directory)
                .sealFrom(100_000)
                .open();
        scope = channel.newScope();
        coin = scope.create(Coin.class);
        coin.value(5);
    }

    @AfterEach
    void stop() {
        if (server != null) {
            channel.close();
            server.close();
        }
    }

    private SealedVault vault() {
        return channel.stub(SealedVault.class);
    }

    private void meet() throws Exception {
        service.turns.exchange(true, SECONDS, TimeUnit.SECONDS);
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

    private void isSealedBy(String method) {
        assertThatThrownBy(() -> coin.value(6))
                .isInstanceOf(SealedScopeException.class)
                .hasMessageContaining("is sealed by /test/sealed/" + method);
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
        CompletableFuture<List<Long>> values = inBackground(() -> vault().valueTwice(coin));
        meet();
        isSealedBy("valueTwice");
        assertThatThrownBy(() -> scope.allocate(8)).isInstanceOf(SealedScopeException.class);
        assertThatThrownBy(scope::reset).isInstanceOf(SealedScopeException.class);
        meet();

        assertThat(values.get(SECONDS, TimeUnit.SECONDS)).containsExactly(5L, 5L);
        isOpenAgain();
        assertThat(IsolationEvents.counters().seals() - seals).isEqualTo(2);
    }

    @Test
    void shouldSealForAnAsynchronousCallUntilItsFutureEnds() throws Exception {
        CompletableFuture<List<Long>> values = vault().valueTwiceLater(coin);
        meet();
        isSealedBy("valueTwiceLater");
        meet();

        assertThat(values.get(SECONDS, TimeUnit.SECONDS)).containsExactly(5L, 5L);
        isOpenAgain();
    }

    @Test
    void shouldSealForAOneWayCallUntilItsHandlerHasReturned() throws Exception {
        vault().tell(coin);
        isSealedBy("tell");
        meet();
        meet();

        Await.until("the handler has returned", () -> {
            try {
                coin.value(6);
                return true;
            } catch (SealedScopeException e) {
                return false;
            }
        });
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

        Await.until("the stream has ended", () -> {
            try {
                coin.value(6);
                return true;
            } catch (SealedScopeException e) {
                return false;
            }
        });
    }

    @Test
    void shouldOpenTheScopeOfACallThatFails() {
        assertThatThrownBy(() -> vault().fail(coin)).hasMessageContaining("on purpose");
        isOpenAgain();
    }

    @Test
    void shouldPassOneScopeToOneCallAtATime() throws Exception {
        CompletableFuture<List<Long>> values = inBackground(() -> vault().valueTwice(coin));
        meet();

        assertThatThrownBy(() -> vault().value(coin))
                .isInstanceOf(RpcException.class)
                .hasMessageContaining("FAILED_PRECONDITION")
                .hasMessageContaining("is sealed by /test/sealed/valueTwice");
        meet();

        assertThat(values.get(SECONDS, TimeUnit.SECONDS)).containsExactly(5L, 5L);
        isOpenAgain();
    }

    @Test
    void shouldKeepTheScopeOfALateHandlerSealedAndFreeItWhenItIsDone() throws Exception {
        // Long enough to begin the call on a busy machine.
        SealedVault hasty = channel.stub(SealedVault.class, CallOptions.DEFAULT.withTimeout(Duration.ofSeconds(2)));
        CompletableFuture<List<Long>> values = inBackground(() -> hasty.valueTwice(coin));
        meet();
        assertThatThrownBy(() -> values.get(SECONDS, TimeUnit.SECONDS)).hasMessageContaining("DEADLINE_EXCEEDED");
        isSealedBy("valueTwice");
        long used = scope.arena().usedBytes();
        scope.close();
        assertThat(scope.arena().usedBytes()).isEqualTo(used);
        meet();

        Await.until("the late handler's scope is free", () -> {
            try (Scope other = channel.newScope()) {
                Coin another = other.create(Coin.class);
                vault().value(another);
            }
            return scope.arena().usedBytes() < used;
        });
    }

    @Test
    void shouldCopyWhatIsSealedWhereTheMethodBelievesNoCaller() throws Exception {
        SealedVault sealing = channel.stub(SealedVault.class, CallOptions.DEFAULT.withIsolation(Isolation.SEALED));
        CompletableFuture<List<Long>> values = inBackground(() -> sealing.copyTwice(coin));
        meet();
        isSealedBy("copyTwice");
        meet();
        assertThat(values.get(SECONDS, TimeUnit.SECONDS)).containsExactly(5L, 5L);
        isOpenAgain();
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
    void shouldOpenAScopeAtOnceForWhoeverStoresPastItsObjects() {
        try (RpcChannel raw = RpcChannel.builder("/test/sealed")
                        .directory(directory)
                        .keepSealed(0)
                        .open();
                Scope there = raw.newScope()) {
            Coin coinThere = there.create(Coin.class);
            coinThere.value(5);
            long free = Ref.offset(there.firstRun()) + 2000;
            assertThat(raw.stub(SealedVault.class).value(coinThere)).isEqualTo(5);
            assertThat(there.isSealed()).isFalse();
            Seals.guarded(() -> there.arena().memory().set(ValueLayout.JAVA_LONG, free, 1));
        }
        assertThatThrownBy(() -> RpcChannel.builder("/test/sealed").keepSealed(-1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldSayThatARawStoreCameAfterTheCallAndLetTheNextOnePass() {
        assertThat(vault().value(coin)).isEqualTo(5);
        MemorySegment memory = scope.arena().memory();
        long free = Ref.offset(scope.firstRun()) + 2000;

        assertThatThrownBy(() -> Seals.guarded(() -> memory.set(ValueLayout.JAVA_LONG, free, 1)))
                .isInstanceOf(SealedScopeException.class)
                .hasMessageContaining("/test/sealed/value, which has ended")
                .hasMessageContaining("store again");
        Seals.guarded(() -> memory.set(ValueLayout.JAVA_LONG, free, 1));
        assertThat(vault().value(coin)).isEqualTo(5);
    }

    @Test
    void shouldLetAutoSealASmallScopeThatStaysAsItIs() {
        SealedVault auto = channel.stub(SealedVault.class, CallOptions.DEFAULT.withIsolation(Isolation.AUTO));
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
        SealedVault auto = channel.stub(SealedVault.class, CallOptions.DEFAULT.withIsolation(Isolation.AUTO));
        scope.allocate(100_000);
        CompletableFuture<List<Long>> values = inBackground(() -> vault().valueTwice(coin));
        meet();
        CompletableFuture<Long> other = inBackground(() -> auto.value(coin));
        meet();
        assertThat(values.get(SECONDS, TimeUnit.SECONDS)).containsExactly(5L, 5L);
        assertThat(other.get(SECONDS, TimeUnit.SECONDS)).isEqualTo(5);
    }

    @Test
    void shouldLetAutoSealLargeScopesOnly() {
        SealedVault auto = channel.stub(SealedVault.class, CallOptions.DEFAULT.withIsolation(Isolation.AUTO));
        long seals = IsolationEvents.counters().seals();
        assertThat(auto.value(coin)).isEqualTo(5);
        assertThat(IsolationEvents.counters().seals()).isEqualTo(seals);

        try (Scope large = channel.newScope(1 << 20)) {
            Coin inLarge = large.create(Coin.class);
            inLarge.value(9);
            assertThat(auto.value(inLarge)).isEqualTo(9);
        }
        assertThat(IsolationEvents.counters().seals()).isEqualTo(seals + 1);
    }

    @Test
    void shouldLetAutoTryBothWaysWithALargeScopeThatChanges() {
        try (RpcChannel unset =
                        RpcChannel.builder("/test/sealed").directory(directory).open();
                Scope large = unset.newScope(2 << 20)) {
            SealedVault auto = unset.stub(SealedVault.class, CallOptions.DEFAULT.withIsolation(Isolation.AUTO));
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
    }

    @Test
    void shouldCopyScopesOfTheSharedArenaInsteadOfSealingThem() {
        try (Scope shared = channel.newSharedScope()) {
            long seals = IsolationEvents.counters().seals();
            Coin there = shared.create(Coin.class);
            there.value(4);

            assertThat(vault().value(there)).isEqualTo(4);
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
        CompletableFuture<List<Long>> values = inBackground(() -> vault().valueTwice(coin));
        meet();
        channel.close();
        assertThatThrownBy(() -> values.get(SECONDS, TimeUnit.SECONDS)).hasCauseInstanceOf(RpcException.class);
        meet();
        assertThatThrownBy(() -> scope.allocate(8)).isInstanceOf(RuntimeException.class);
        scope.close();
    }
}
