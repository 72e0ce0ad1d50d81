package dev.rackcall.rpc.shm.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.shm.protocol.CallTimes;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** Percentiles of call times. */
class TimeCountsTest {
    private static void count(MemorySegment memory, long nanos, int calls) {
        for (int i = 0; i < calls; i++) {
            CallTimes.end(memory, System.nanoTime() - nanos);
        }
    }

    @Test
    void shouldTellHowLongMostCallsTook() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment header = arena.allocate(ControlLayout.FIRST_SLOT, Long.BYTES);
            count(header, 5_000_000_000L, 50);
            TimeCounts before = TimeCounts.of(header);
            // So long that what the test itself takes does not count.
            count(header, 100_000_000_000L, 95);
            count(header, 400_000_000_000L, 5);
            TimeCounts times = TimeCounts.of(header).since(before);
            assertThat(times.timed()).isEqualTo(100);
            assertThat(times.percentile(0.5).orElseThrow()).isCloseTo(1e11, Percentage.withPercentage(7));
            assertThat(times.percentile(0.95).orElseThrow()).isCloseTo(1e11, Percentage.withPercentage(7));
            assertThat(times.percentile(0.99).orElseThrow()).isCloseTo(4e11, Percentage.withPercentage(7));
            assertThat(before.percentile(0.99).orElseThrow()).isCloseTo(5e9, Percentage.withPercentage(20));
        }
    }

    @Test
    void shouldTellNothingOfNoCalls() {
        try (Arena arena = Arena.ofConfined()) {
            TimeCounts none = TimeCounts.of(arena.allocate(ControlLayout.FIRST_SLOT, Long.BYTES));
            assertThat(none.timed()).isZero();
            assertThat(none.percentile(0.5)).isEmpty();
        }
    }
}
