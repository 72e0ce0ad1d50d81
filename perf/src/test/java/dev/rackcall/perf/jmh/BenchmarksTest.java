package dev.rackcall.perf.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The benchmarks do what their names say. */
class BenchmarksTest {
    private final ArenaState state = new ArenaState();

    @BeforeEach
    void map() {
        state.map();
    }

    @AfterEach
    void unmap() {
        state.unmap();
    }

    @Test
    void shouldGiveBackAllMemoryThatTheAllocatorBenchmarksTake() {
        AllocatorBenchmark benchmark = new AllocatorBenchmark();
        benchmark.open(state);
        long used = state.arena().usedBytes();
        assertThat(benchmark.openAndCloseScope(state)).isPositive();
        assertThat(benchmark.openAndCloseLargeScope(state)).isGreaterThanOrEqualTo(1 << 20);
        assertThat(benchmark.allocate()).isNotZero();
        assertThat(benchmark.allocate()).isNotZero();
        assertThat(state.arena().usedBytes()).isEqualTo(used);
        benchmark.close();
        assertThat(state.arena().usedBytes()).isLessThan(used);
    }

    @Test
    void shouldReadTheFieldsThatItWrote() {
        FieldBenchmark benchmark = new FieldBenchmark();
        benchmark.build(state);
        benchmark.writeLong();
        benchmark.writeLong();
        assertThat(benchmark.readLong()).isEqualTo(1);
        assertThat(benchmark.readText()).isEqualTo("sixteen letters.");
        assertThat(benchmark.resolveRef()).isNotZero();
        for (int i = 0; i < 1000; i++) {
            assertThat(benchmark.followRef()).isTrue();
        }
        benchmark.close();
    }
}
