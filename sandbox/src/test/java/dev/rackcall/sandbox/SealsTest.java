package dev.rackcall.sandbox;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.ScopeRuns;
import dev.rackcall.shm.SealedScopeException;
import dev.rackcall.shm.types.SharedBytes;
import dev.rackcall.shm.types.SharedLongList;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class SealsTest {
    private static final String CALL = "call /shop/search.index";
    private static final long PAGE = 4096;
    private static final int DESCRIPTORS = 64;

    private final SealBench bench = SealBench.of(8 << 20, DESCRIPTORS, 1024);
    private final Seals seals = bench.seals;
    private final SealedScopes receiver = bench.receiver;

    @AfterEach
    void close() {
        bench.close();
    }

    private static void storeTo(Scope scope) {
        scope.arena().memory().set(JAVA_LONG, Ref.offset(scope.firstRun()) + PAGE - Long.BYTES, 1);
    }

    private static boolean isClosed(Scope scope) {
        try {
            Seals.guarded(() -> storeTo(scope));
            return false;
        } catch (SealedScopeException e) {
            return true;
        }
    }

    // ---- a call

    @Test
    void shouldKeepAScopeUnchangedFromSealToRelease() {
        Scope scope = bench.arena.newScope();
        Node node = scope.create(Node.class);
        node.value(5);
        long ref = SharedObject.refOf(node);

        long seal = seals.seal(scope, CALL);

        assertThatThrownBy(() -> node.value(6))
                .isInstanceOf(SealedScopeException.class)
                .hasMessageContaining(CALL);
        assertThat(isClosed(scope)).isTrue();
        long run = receiver.claim(seal);
        assertThat(run).isEqualTo(scope.firstRun());
        receiver.verify(seal, ref, 16);
        assertThat(node.value()).isEqualTo(5);
        assertThat(receiver.markDone(seal)).isTrue();
        assertThat(isClosed(scope)).as("done, but not released").isTrue();

        seals.release(seal);
        assertThat(isClosed(scope)).isFalse();
        node.value(6);
        assertThat(node.value()).isEqualTo(6);
        assertThatThrownBy(() -> receiver.claim(seal))
                .isInstanceOf(SealException.class)
                .hasMessageContaining("not in force");
    }

    @Test
    void shouldSealEveryRunOfAScope() {
        Scope scope = bench.arena.newScope();
        for (int i = 0; i < 300; i++) {
            scope.allocate(1000);
        }
        ScopeRuns runs = new ScopeRuns();
        runs.read(bench.arena, scope.firstRun());
        assertThat(runs.count()).isGreaterThan(3);

        long seal = seals.seal(scope, CALL);

        receiver.claim(seal);
        receiver.requireCovered(seal, runs);
        for (int i = 0; i < runs.count(); i++) {
            receiver.verify(seal, runs.ref(i), runs.bytes(i));
            long last = Ref.offset(runs.ref(i)) + runs.bytes(i) - Long.BYTES;
            assertThatThrownBy(() -> Seals.guarded(() -> bench.arena.memory().set(JAVA_LONG, last, 1)))
                    .isInstanceOf(SealedScopeException.class);
        }
        receiver.markDone(seal);
        seals.release(seal);
        assertThatCode(() -> scope.allocate(100_000)).doesNotThrowAnyException();
    }

    @Test
    void shouldFenceASealedScopeAndOnlyIfAllOfItIsSealed() {
        Scope scope = bench.arena.newScope();
        Node node = scope.create(Node.class);
        node.value(5);
        scope.allocate(20_000);
        ArgumentSpace space = new ArgumentSpace(
                ArenaTable.create(), new SnapshotMemory(1 << 20, 0), SnapshotBudget.UNLIMITED, Long.MAX_VALUE);

        long seal = seals.seal(scope, CALL);
        space.fence(bench.receiversArena, receiver, seal);
        Node read = SharedType.of(Node.class).attach(space, SharedObject.refOf(node));
        assertThat(read.value()).isEqualTo(5);
        space.leave();
        receiver.markDone(seal);
        seals.release(seal);

        long next = seals.seal(scope, CALL);
        bench.ring.set(JAVA_LONG, (int) next * 32L + 16, 64);
        assertThatThrownBy(() -> space.fence(bench.receiversArena, receiver, next))
                .isInstanceOf(SealException.class)
                .hasMessageContaining("covers 64 bytes");
        assertThat(space.isEntered()).isFalse();
    }

    @Test
    void shouldTellTheStoringThreadAndNameTheCall() throws InterruptedException {
        Scope scope = bench.arena.newScope();
        seals.seal(scope, CALL);
        List<Throwable> thrown = Collections.synchronizedList(new ArrayList<>());
        Thread other = Thread.ofPlatform().start(() -> {
            try {
                Seals.guarded(() -> storeTo(scope));
            } catch (SealedScopeException e) {
                thrown.add(e);
            }
        });
        other.join(TimeUnit.SECONDS.toMillis(100));

        assertThat(thrown)
                .singleElement()
                .satisfies(e -> assertThat(e)
                        .hasMessageContaining(CALL)
                        .hasMessageContaining("arena 7")
                        .hasCauseInstanceOf(InternalError.class));
        assertThat(bench.arena.memory().get(JAVA_LONG, Ref.offset(scope.firstRun()) + PAGE - Long.BYTES))
                .isZero();
    }

    @Test
    void shouldLeaveErrorsOfTheJvmAlone() {
        InternalError ofSomethingElse = new InternalError("not ours");

        assertThatThrownBy(() -> Seals.explain(ofSomethingElse)).isSameAs(ofSomethingElse);
    }

    // ---- misuse

    @Test
    void shouldNotSealTwice() {
        Scope scope = bench.arena.newScope();
        long seal = seals.seal(scope, CALL);

        assertThatThrownBy(() -> seals.seal(scope, "call /shop/cart.add"))
                .isInstanceOf(SealedScopeException.class)
                .hasMessageContaining(CALL);

        receiver.markDone(seal);
        seals.release(seal);
        seals.seal(scope, CALL);
    }

    @Test
    void shouldNotReleaseBeforeTheReceiverIsDoneNorTwice() {
        Scope scope = bench.arena.newScope();
        long seal = seals.seal(scope, CALL);

        assertThatThrownBy(() -> seals.release(seal))
                .isInstanceOf(SealException.class)
                .hasMessageContaining(CALL)
                .hasMessageContaining("not marked it done");
        assertThat(isClosed(scope)).isTrue();

        receiver.markDone(seal);
        seals.release(seal);
        assertThatThrownBy(() -> seals.release(seal))
                .isInstanceOf(SealException.class)
                .hasMessageContaining("released before");
        assertThatThrownBy(() -> seals.release(0)).isInstanceOf(SealException.class);
        assertThatThrownBy(() -> seals.release(-1)).isInstanceOf(SealException.class);
    }

    @Test
    void shouldNotResetASealedScopeAndFreeAClosedOneOnlyAtItsRelease() {
        Scope scope = bench.arena.newScope();
        long used = bench.arena.usedBytes();
        long seal = seals.seal(scope, CALL);

        assertThatThrownBy(scope::reset)
                .isInstanceOf(SealedScopeException.class)
                .hasMessageContaining(CALL);
        scope.close();
        assertThat(bench.arena.usedBytes()).isEqualTo(used);

        receiver.markDone(seal);
        seals.release(seal);
        assertThat(bench.arena.usedBytes()).isLessThan(used);
    }

    @Test
    void shouldNotSealAScopeOfAnotherArena() {
        try (SealBench other = SealBench.of(1 << 20, DESCRIPTORS, 1)) {
            Scope scope = other.arena.newScope();

            assertThatThrownBy(() -> seals.seal(scope, CALL))
                    .isInstanceOf(SealException.class)
                    .hasMessageContaining("cannot be sealed with the seals of");
            assertThat(scope.isSealed()).isFalse();
        }
    }

    @Test
    void shouldSayThatTheRingIsFullAndGoOnAfterwards() {
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < DESCRIPTORS; i++) {
            all.add(seals.seal(bench.arena.newScope(), CALL));
        }
        Scope oneMore = bench.arena.newScope();

        assertThatThrownBy(() -> seals.seal(oneMore, CALL))
                .isInstanceOf(SealException.class)
                .hasMessageContaining("64 of 64 descriptors");
        assertThat(oneMore.isSealed()).isFalse();

        receiver.markDone(all.getFirst());
        seals.releaseLater(all.getFirst());
        assertThatCode(() -> seals.seal(oneMore, CALL)).doesNotThrowAnyException();
    }

    // ---- a receiver that does not mark

    @Test
    void shouldWaitForTheReceiverButNotLongerThanTold() throws InterruptedException {
        Scope scope = bench.arena.newScope();
        long seal = seals.seal(scope, CALL);

        assertThatThrownBy(() -> seals.release(seal, Duration.ofMillis(20)))
                .isInstanceOf(SealException.class)
                .hasMessageContaining("within 20 ms")
                .hasMessageContaining("revoke");
        assertThat(isClosed(scope)).isTrue();

        Thread late = Thread.ofPlatform().start(() -> receiver.markDone(seal));
        seals.release(seal, Duration.ofSeconds(100));
        assertThat(isClosed(scope)).isFalse();
        late.join();
    }

    @Test
    void shouldTellTheReceiverThatASealWasRevoked() {
        Scope scope = bench.arena.newScope();
        long seal = seals.seal(scope, CALL);
        receiver.claim(seal);

        seals.revoke(seal);

        assertThat(isClosed(scope)).isFalse();
        assertThat(receiver.markDone(seal)).isFalse();
        assertThatThrownBy(() -> receiver.verify(seal, scope.firstRun(), 8)).isInstanceOf(SealException.class);
    }

    @Test
    void shouldOpenEverythingAtTheEnd() {
        Scope scope = bench.arena.newScope();
        long seal = seals.seal(scope, CALL);

        seals.close();
        seals.close();

        storeTo(scope);
        assertThat(scope.isSealed()).isFalse();
        assertThatThrownBy(() -> seals.release(seal)).isInstanceOf(SealException.class);
        assertThatThrownBy(() -> seals.seal(scope, CALL)).isInstanceOf(SealException.class);
    }

    // ---- batches

    @Test
    void shouldReleaseABatchOfNeighboursInFewPasses() {
        try (SealBench many = SealBench.of(8 << 20, 256, 100)) {
            IsolationEvents.Counters before = IsolationEvents.counters();
            List<Scope> scopes = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                Scope scope = many.arena.newScope(PAGE - 64);
                scopes.add(scope);
                long seal = many.seals.seal(scope, CALL);
                many.receiver.markDone(seal);
                many.seals.releaseLater(seal);
                many.seals.releaseLater(many.seals.waiting() == 0 ? many.seals.seal(scope, CALL) : seal);
                assertThat(many.seals.waiting()).isEqualTo(i < 99 ? i + 1 : 1);
            }
            IsolationEvents.Counters after = IsolationEvents.counters();

            assertThat(after.releases() - before.releases()).isEqualTo(100);
            assertThat(after.releasePasses() - before.releasePasses()).isLessThan(10);
            assertThat(scopes.subList(0, 99)).noneMatch(Scope::isSealed);
            assertThat(scopes.getFirst())
                    .satisfies(scope -> assertThat(isClosed(scope)).isFalse());
        }
    }

    @Test
    void shouldReleaseEarlyWhatIsUsedBeforeItsBatch() {
        Scope scope = bench.arena.newScope();
        Node node = scope.create(Node.class);
        long seal = seals.seal(scope, CALL);
        assertThatThrownBy(() -> node.value(1)).isInstanceOf(SealedScopeException.class);
        receiver.markDone(seal);
        assertThatThrownBy(() -> node.value(1))
                .as("done, but its sealer has not allowed the release")
                .isInstanceOf(SealedScopeException.class);
        seals.releaseLater(seal);

        node.value(1);

        assertThat(node.value()).isEqualTo(1);
        assertThat(scope.isSealed()).isFalse();
        assertThat(seals.flush()).isZero();
    }

    @Test
    void shouldLeaveWhatIsNotDoneForALaterBatchAndItsPagesClosed() {
        List<Scope> scopes = new ArrayList<>();
        List<Long> all = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            scopes.add(bench.arena.newScope());
            all.add(seals.seal(scopes.get(i), CALL));
            if (i % 2 == 0) {
                receiver.markDone(all.get(i));
            }
            seals.releaseLater(all.get(i));
        }

        assertThat(seals.flush()).isEqualTo(5);
        assertThat(seals.waiting()).isEqualTo(4);
        for (int i = 0; i < 9; i++) {
            assertThat(isClosed(scopes.get(i))).as("scope %d", i).isEqualTo(i % 2 == 1);
        }

        all.forEach(receiver::markDone);
        seals.release(all.get(1));
        assertThat(seals.flush()).isEqualTo(3);
        assertThat(scopes).noneMatch(SealsTest::isClosed);
    }

    // ---- seals that stay in force until the scope is used

    private long sealAndKeep(Scope scope, String call) {
        long seal = seals.seal(scope, call);
        assertThat(receiver.claim(seal)).isEqualTo(scope.firstRun());
        receiver.markDone(seal);
        seals.releaseWhenUsed(seal);
        return seal;
    }

    private static long releasePasses() {
        return IsolationEvents.counters().releasePasses();
    }

    @Test
    void shouldRenewTheSealOfAnUnchangedScopeWithoutOpeningIt() {
        Scope scope = bench.arena.newScope();
        scope.allocate(20_000);
        long first = sealAndKeep(scope, CALL);
        assertThat(seals.kept()).isEqualTo(1);
        assertThat(isClosedToReceivers(first)).isTrue();
        long passes = releasePasses();

        long second = seals.seal(scope, "call /shop/cart.add");

        assertThat(second).isNotEqualTo(first);
        assertThat(releasePasses()).isEqualTo(passes);
        assertThat(seals.kept()).isZero();
        assertThat(seals.isDone(second)).isFalse();
        assertThatThrownBy(() -> receiver.claim(first))
                .isInstanceOf(SealException.class)
                .hasMessageContaining("not in force");
        ScopeRuns runs = new ScopeRuns();
        runs.read(bench.receiversArena, receiver.claim(second));
        assertThat(runs.count()).isGreaterThan(1);
        receiver.requireCovered(second, runs);
        assertThatThrownBy(() -> scope.allocate(8))
                .isInstanceOf(SealedScopeException.class)
                .hasMessageContaining("/shop/cart.add");
        assertThatThrownBy(() -> seals.release(first)).isInstanceOf(SealException.class);
        assertThatThrownBy(() -> seals.releaseWhenUsed(first)).isInstanceOf(SealException.class);
    }

    private boolean isClosedToReceivers(long served) {
        try {
            receiver.claim(served);
            return false;
        } catch (SealException e) {
            return e.getMessage().contains("served a call before");
        }
    }

    @Test
    void shouldNotTakeTheMarkOfAnEarlierCallForARenewedSeals() {
        Scope scope = bench.arena.newScope();
        long first = sealAndKeep(scope, CALL);
        long second = seals.seal(scope, CALL);

        receiver.markDone(first);

        assertThat(seals.isDone(second)).isFalse();
        assertThatThrownBy(() -> seals.release(second)).hasMessageContaining("not marked it done");
    }

    @Test
    void shouldOpenAKeptScopeForWhateverUsesIt() {
        Scope scope = bench.arena.newScope();
        Node node = scope.create(Node.class);
        List<Runnable> uses = List.of(
                () -> node.value(3),
                () -> scope.allocate(8),
                () -> scope.create(Node.class),
                () -> SharedLongList.create(scope).add(5),
                scope::reset,
                scope::detach);
        for (Runnable use : uses) {
            sealAndKeep(scope, CALL);
            assertThat(scope.isSealed()).isTrue();
            use.run();
            assertThat(scope.isSealed()).isFalse();
            assertThat(isClosed(scope)).isFalse();
            assertThat(seals.kept()).isZero();
        }
    }

    @Test
    void shouldFreeAKeptScopeThatIsClosed() {
        Scope scope = bench.arena.newScope();
        long used = bench.arena.usedBytes();
        sealAndKeep(scope, CALL);

        scope.close();

        assertThat(bench.arena.usedBytes()).isLessThan(used);
        assertThat(seals.kept()).isZero();
        Scope next = bench.arena.newScope();
        assertThat(isClosed(next)).isFalse();
    }

    @Test
    void shouldNotKeepAScopeOfWhichMemoryWasHandedOut() {
        Scope scope = bench.arena.newScope();
        SharedBytes bytes = SharedBytes.create(scope, 100);
        sealAndKeep(scope, CALL);

        MemorySegment segment = bytes.segment();
        Seals.guarded(() -> segment.fill((byte) 7));
        sealAndKeep(scope, CALL);
        Seals.guarded(() -> segment.fill((byte) 8));

        assertThat(bytes.get(99)).isEqualTo((byte) 8);
        assertThat(scope.isSealed()).isFalse();
    }

    @Test
    void shouldOpenAKeptScopeWhenItExplainsARawStore() {
        Scope scope = bench.arena.newScope();
        sealAndKeep(scope, CALL);
        Scope other = bench.arena.newScope();
        seals.seal(other, "call /shop/cart.add");

        assertThatThrownBy(() -> Seals.guarded(() -> storeTo(scope)))
                .isInstanceOf(SealedScopeException.class)
                .hasMessageContaining(CALL + ", which has ended")
                .hasMessageContaining("store again");

        assertThat(isClosed(scope)).isFalse();
        assertThat(isClosed(other)).isTrue();
    }

    @Test
    void shouldBoundWhatIsKept() {
        try (SealBench few = SealBench.of(8 << 20, 256, 10)) {
            List<Scope> scopes = new ArrayList<>();
            for (int i = 0; i < 25; i++) {
                Scope scope = few.arena.newScope(PAGE - 64);
                scopes.add(scope);
                long seal = few.seals.seal(scope, CALL);
                few.receiver.markDone(seal);
                few.seals.releaseWhenUsed(seal);
                assertThat(few.seals.kept()).isBetween(1, 11);
            }
            assertThat(scopes.stream().filter(Scope::isSealed)).hasSize(few.seals.kept());

            Scope large = few.arena.newScope(100 * PAGE);
            large.allocate(99 * PAGE);
            long seal = few.seals.seal(large, CALL);
            few.receiver.markDone(seal);
            few.seals.releaseWhenUsed(seal);

            assertThat(few.seals.kept()).as("the latest, however large").isEqualTo(1);
            assertThat(large.isSealed()).isTrue();
            assertThat(scopes).noneMatch(Scope::isSealed).noneMatch(SealsTest::isClosed);
        }
    }

    @Test
    void shouldGiveUpWhatIsKeptWhenTheRingIsFull() {
        for (int i = 0; i < DESCRIPTORS; i++) {
            sealAndKeep(bench.arena.newScope(), CALL);
        }

        assertThatCode(() -> seals.seal(bench.arena.newScope(), CALL)).doesNotThrowAnyException();
        assertThat(seals.kept()).isZero();
    }

    @Test
    void shouldLeaveWhatIsNotDoneToALaterBatchInsteadOfKeepingIt() {
        Scope scope = bench.arena.newScope();
        long seal = seals.seal(scope, CALL);

        seals.releaseWhenUsed(seal);

        assertThat(seals.kept()).isZero();
        assertThat(seals.waiting()).isEqualTo(1);
        assertThatThrownBy(() -> scope.allocate(8)).isInstanceOf(SealedScopeException.class);
        receiver.markDone(seal);
        assertThat(seals.flush()).isEqualTo(1);
    }

    @Test
    void shouldAllocateNothingWhenItRenews() {
        Scope scope = bench.arena.newScope();
        Allocation.settlesAtNothing(() -> {
            long seal = seals.seal(scope, CALL);
            receiver.claim(seal);
            receiver.markDone(seal);
            seals.releaseWhenUsed(seal);
        });
    }

    @Test
    void shouldAllocateNothing() {
        Scope scope = bench.arena.newScope();
        Allocation.settlesAtNothing(() -> {
            long seal = seals.seal(scope, CALL);
            receiver.claim(seal);
            receiver.verify(seal, scope.firstRun(), PAGE);
            receiver.markDone(seal);
            seals.release(seal);
        });
    }

    /** In any order of seals and releases, exactly the sealed scopes are closed. */
    @Test
    void shouldKeepPagesAndDescriptorsInStep() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Scope> open = new ArrayList<>();
        List<Scope> sealed = new ArrayList<>();
        List<Scope> kept = new ArrayList<>();
        List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            Scope scope = bench.arena.newScope(PAGE * (1 + random.nextInt(3)) - 64);
            scope.allocate(random.nextInt(5_000));
            open.add(scope);
        }
        for (int step = 0; step < 2_000; step++) {
            if (!open.isEmpty() && (sealed.isEmpty() || random.nextBoolean())) {
                Scope scope = open.remove(random.nextInt(open.size()));
                numbers.add(seals.seal(scope, CALL));
                sealed.add(scope);
            } else if (!sealed.isEmpty()) {
                int which = random.nextInt(sealed.size());
                long seal = numbers.remove(which);
                receiver.claim(seal);
                receiver.markDone(seal);
                Scope scope = sealed.remove(which);
                switch (random.nextInt(3)) {
                    case 0 -> seals.release(seal);
                    case 1 -> {
                        seals.releaseLater(seal);
                        seals.flush();
                    }
                    default -> {
                        seals.releaseWhenUsed(seal);
                        if (random.nextBoolean()) {
                            scope.allocate(8);
                        }
                    }
                }
                (scope.isSealed() ? kept : open).add(scope);
            }
            if (!kept.isEmpty() && random.nextInt(4) == 0) {
                Scope scope = kept.remove(random.nextInt(kept.size()));
                numbers.add(seals.seal(scope, CALL));
                sealed.add(scope);
            }
            if (step % 100 == 0) {
                assertThat(open).as("seed %d", seed).noneMatch(SealsTest::isClosed);
                assertThat(seals.kept()).as("seed %d", seed).isEqualTo(kept.size());
                assertThat(sealed).as("seed %d", seed).allMatch(SealsTest::isClosed);
            }
        }
    }

    // ---- a hostile sender's writes into the ring

    @Test
    void shouldRefuseNumbersThatAreNoSeals() {
        Scope scope = bench.arena.newScope();
        long seal = seals.seal(scope, CALL);
        for (long number :
                new long[] {0, -1, seal + 1, seal ^ (1L << 32), seal | 0x8000_0000L, Long.MIN_VALUE, seal + DESCRIPTORS
                }) {
            assertThatThrownBy(() -> receiver.claim(number))
                    .as(Long.toHexString(number))
                    .isInstanceOf(SealException.class);
            assertThatThrownBy(() -> receiver.verify(number, scope.firstRun(), 8))
                    .isInstanceOf(SealException.class);
            receiver.markDone(number);
        }
        assertThat(seals.isDone(seal)).isFalse();
    }

    @Test
    void shouldLetASealServeOneCallOnly() {
        long seal = seals.seal(bench.arena.newScope(), CALL);
        receiver.claim(seal);

        assertThatThrownBy(() -> receiver.claim(seal))
                .isInstanceOf(SealException.class)
                .hasMessageContaining("served a call before");
    }

    @Test
    void shouldNotTakeALaterRunForASeal() {
        Scope scope = bench.arena.newScope();
        scope.allocate(20_000);
        long seal = seals.seal(scope, CALL);

        assertThatThrownBy(() -> receiver.claim(seal + 1)).isInstanceOf(SealException.class);
    }

    @Test
    void shouldNotBelieveADescriptorThatCoversLess() {
        Scope scope = bench.arena.newScope();
        scope.allocate(20_000);
        long seal = seals.seal(scope, CALL);
        ScopeRuns runs = new ScopeRuns();
        runs.read(bench.arena, receiver.claim(seal));
        assertThatThrownBy(() -> receiver.verify(seal, scope.firstRun(), PAGE + 1))
                .isInstanceOf(SealException.class);
        assertThatThrownBy(() -> receiver.verify(seal, scope.firstRun() - 1, 1)).isInstanceOf(SealException.class);
        assertThatThrownBy(() -> receiver.verify(seal, scope.firstRun(), Long.MAX_VALUE))
                .isInstanceOf(SealException.class);
        assertThatThrownBy(() -> receiver.verify(seal, scope.firstRun(), -1)).isInstanceOf(SealException.class);

        int index = (int) seal;
        bench.ring.set(JAVA_LONG, (index + 1) * 32L + 16, 64);
        assertThatThrownBy(() -> receiver.requireCovered(seal, runs)).isInstanceOf(SealException.class);
        bench.ring.set(JAVA_INT, (index + 1) * 32L, 12345);
        assertThatThrownBy(() -> receiver.requireCovered(seal, runs)).isInstanceOf(SealException.class);
    }

    @Test
    void shouldSurviveEveryBytePatternInTheRing() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        long seal = seals.seal(bench.arena.newScope(), CALL);
        byte[] noise = new byte[(int) bench.ring.byteSize()];
        ScopeRuns runs = new ScopeRuns();
        runs.read(bench.arena, bench.arena.newScope().firstRun());
        for (int round = 0; round < 5_000; round++) {
            random.nextBytes(noise);
            // Half of the rounds get past the first check.
            bench.ring
                    .asSlice(8)
                    .copyFrom(java.lang.foreign.MemorySegment.ofArray(noise).asSlice(8));
            bench.ring.set(
                    JAVA_LONG,
                    0,
                    random.nextBoolean()
                            ? random.nextLong()
                            : 0x0100_0000_0000_0000L | ((long) random.nextInt(1 << 24) << 32) | (seal >>> 32));
            refuses(() -> receiver.claim(seal), seed);
            refuses(() -> receiver.verify(seal, random.nextLong(), random.nextLong()), seed);
            refuses(() -> receiver.requireCovered(seal, runs), seed);
            receiver.markDone(seal);
        }
    }

    private static void refuses(Runnable check, long seed) {
        try {
            check.run();
        } catch (SealException e) {
            assertThat(e).as("seed %d", seed).hasMessageContaining("seal");
        }
    }
}
