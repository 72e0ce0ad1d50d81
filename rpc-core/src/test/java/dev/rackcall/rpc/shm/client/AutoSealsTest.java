package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What AUTO decides for large scopes that change between their calls, where the test says what a call costs in each
 * way.
 */
class AutoSealsTest {
    private static final int CALLS = 3_000;
    private static final long LARGE = 16 << 20;
    private static final long REGULAR = 2 << 20;
    private static final long SEED = 3_141_592_653L;

    private final SharedFile file = SharedFile.memfd("auto-seals", 64 << 20);
    private final Mapping mapping = file.map();
    private final Arena arena =
            Arena.create(new ArenaSpec(1, mapping.memory(), file, 0, TableHome.PRIVATE, 1, 64 << 10));
    private final AutoSeals auto = new AutoSeals(1L << 40, true, () -> faults());

    private Scope scope;
    private long faults;
    private int seals;

    private long faults() {
        return faults;
    }

    @BeforeEach
    void openScope() {
        scope = arena.newScope(LARGE - 4096);
        scope.allocate(LARGE - 4096);
    }

    @AfterEach
    void unmap() {
        mapping.close();
        file.close();
    }

    /** Makes calls that cost what is said, and returns what they cost together; counts the seals. */
    private long calls(int count, LongSupplier copy, LongSupplier closing, LongSupplier call, int faultsAfter) {
        long total = 0;
        for (int i = 0; i < count; i++) {
            boolean weighed = auto.weighs(scope);
            assertThat(weighed).isTrue();
            if (auto.choose(scope)) {
                long close = closing.getAsLong();
                long nanos = close + call.getAsLong();
                auto.sealed(scope.firstRun(), nanos, close);
                faults += faultsAfter;
                seals++;
                total += nanos + close + faultsAfter * CallCosts.FAULT_NANOS;
            } else {
                long nanos = copy.getAsLong();
                auto.copied(scope.firstRun(), nanos);
                total += nanos;
            }
        }
        return total;
    }

    @ParameterizedTest
    @CsvSource({
        "930000, 300000, 153000, 1", // 16 MiB, one word changed, as it was measured once
        "560000, 300000, 60000, 1", // and another time
        "560000, 300000, 60000, 4096", // every page changed
        "135000, 70000, 10000, 1",
        "20000, 20000, 2000, 1",
        "20000, 20000, 2000, 256",
        "4000000, 3000, 400, 8", // the kernel is quick, the memory slow
        "5000000, 5000, 4990000, 1", // the handler takes long
    })
    void shouldCostNoMoreThanATenthAboveTheBetterChoice(long copy, long closing, long call, int faultsAfter) {
        long seal = 2 * closing + call + faultsAfter * CallCosts.FAULT_NANOS;
        long better = Math.min(copy, seal);

        long cost = calls(CALLS, () -> copy, () -> closing, () -> call, faultsAfter);

        assertThat(cost / CALLS).isBetween(better, better + better / 10);
        // Each way is tried at least once.
        assertThat(seals).isBetween(1, CALLS - 1);
    }

    @ParameterizedTest
    @CsvSource({"930000, 300000, 153000", "560000, 300000, 60000", "20000, 20000, 2000"})
    void shouldNotBeMisledByCallsThatWaitedForAProcessor(long copy, long closing, long call) {
        Random random = new Random(SEED);
        long better = Math.min(copy, 2 * closing + call);

        // Up to a fifth more for each, and one of twenty has waited for 4 ms.
        LongSupplier waited = () -> random.nextInt(20) == 0 ? 4_000_000 : 0;
        long cost = calls(
                CALLS,
                () -> copy + random.nextLong(copy / 5) + waited.getAsLong(),
                () -> closing + random.nextLong(closing / 5),
                () -> call + random.nextLong(call / 5) + waited.getAsLong(),
                1);

        long expected = better + better / 10 + 4_000_000 / 20;
        assertThat(cost / CALLS).as("seed %d", SEED).isLessThan(expected + expected / 10);
    }

    @Test
    void shouldFollowWhatChanges() {
        calls(CALLS, () -> 560_000, () -> 300_000, () -> 60_000, 1);
        int before = seals;
        calls(CALLS, () -> 930_000, () -> 300_000, () -> 60_000, 1);
        assertThat(seals - before).as("seals once the copies had become dearer").isGreaterThan(CALLS / 2);

        before = seals;
        // From one call to the next: the caller writes every page now.
        calls(CALLS, () -> 930_000, () -> 300_000, () -> 60_000, 4096);
        assertThat(seals - before).as("seals once all pages were written").isLessThan(CALLS / 20);
    }

    @Test
    void shouldKeepASealThatLastsWhateverItCostsOtherwise() {
        calls(CALLS, () -> 20_000, () -> 30_000, () -> 2_000, 1);
        for (int i = 0; !auto.choose(scope); i++) {
            assertThat(i).as("calls without a try").isLessThan(CALLS);
            auto.copied(scope.firstRun(), 20_000);
        }
        scope.seal(() -> false);

        for (int i = 0; i < 100; i++) {
            assertThat(auto.weighs(scope)).isFalse();
            assertThat(auto.choose(scope)).isTrue();
        }
    }

    @Test
    void shouldForgetWhatAnotherScopeAtThatPlaceHasCost() {
        calls(CALLS, () -> 930_000, () -> 300_000, () -> 60_000, 1);
        assertThat(auto.choose(scope)).isTrue();
        scope.close();

        openScope();
        assertThat(auto.choose(scope)).as("the first call is a copy").isFalse();
    }

    /** As large scopes do that are of one size. */
    @Test
    void shouldKnowScopesThatLieAtRegularDistances() {
        scope.close();
        List<Scope> scopes = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            Scope next = arena.newScope(REGULAR - 4096);
            next.allocate(REGULAR - 4096);
            scopes.add(next);
        }
        assertThat(scopes.stream().map(each -> Ref.offset(each.firstRun()) / 4096 % 256))
                .as("first pages, modulo 256")
                .containsOnly(Ref.offset(scopes.getFirst().firstRun()) / 4096 % 256);

        for (int round = 0; round < 200; round++) {
            for (Scope each : scopes) {
                scope = each;
                calls(1, () -> 930_000, () -> 300_000, () -> 60_000, 1);
            }
        }

        assertThat(seals).as("calls that were sealed, the cheaper way").isGreaterThan(200 * scopes.size() / 2);
    }

    @Test
    void shouldTimeNoCallWithASmallScope() {
        try (Scope small = arena.newScope(8 << 10)) {
            assertThat(small.bytesHeld()).isLessThan(AutoSeals.WEIGHED_FROM);
            assertThat(auto.weighs(small)).isFalse();
        }
    }

    @Test
    void shouldSealWhatTheChannelSaysWithoutWeighing() {
        AutoSeals told = new AutoSeals(LARGE, true, () -> faults());
        assertThat(told.weighs(scope)).isFalse();
        assertThat(told.choose(scope)).isTrue();
    }

    @Test
    void shouldNotMixThePageFaultsOfTwoThreads() throws Exception {
        CallCosts costs = new CallCosts(() -> faults());
        costs.copied(1_000_000);
        costs.sealed(400_000, 300_000);
        AtomicLong there = new AtomicLong(-1);
        Thread.ofPlatform().start(() -> there.set(costs.settle())).join();
        assertThat(there).hasValue(0);
        assertThat(costs.sealIsCheaper()).isFalse();

        costs.sealed(400_000, 300_000);
        assertThat(costs.settle()).isEqualTo(700_000);
        assertThat(costs.sealIsCheaper()).isTrue();
    }
}
