package dev.rackcall.rpc.shm.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The counters of call times in a connection's header. */
class CallTimesTest {
    @Test
    void shouldCountEachTimeInTheBucketWhoseBoundsHoldIt() {
        for (int bits = 4; bits < 40; bits++) {
            for (long nanos : new long[] {1L << bits, (1L << bits) + (1L << bits) / 3, (2L << bits) - 1}) {
                int bucket = CallTimes.bucket(nanos);
                assertThat(nanos).isBetween(CallTimes.least(bucket), CallTimes.least(bucket + 1) - 1);
                assertThat(CallTimes.middle(bucket)).isBetween(nanos * 0.93, nanos * 1.07);
            }
        }
    }

    @Test
    void shouldKeepAnyTimeWithinTheCounters() {
        long end = ControlLayout.TIMES + (long) CallTimes.BUCKETS * Integer.BYTES;
        assertThat(end).isLessThanOrEqualTo(ControlLayout.FIRST_SLOT);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(end, Long.BYTES);
            LongStream.of(Long.MIN_VALUE, -1, 0, 1, Long.MAX_VALUE).forEach(nanos -> CallTimes.count(memory, nanos));
            assertThat(CallTimes.count(memory, 0)).isEqualTo(3);
            assertThat(CallTimes.count(memory, CallTimes.BUCKETS - 1)).isEqualTo(1);
            assertThat(IntStream.range(0, CallTimes.BUCKETS).map(each -> CallTimes.count(memory, each)))
                    .as("all counters")
                    .satisfies(all -> assertThat(
                                    all.stream().mapToInt(Integer::intValue).sum())
                            .isEqualTo(5));
        }
    }

    @Test
    void shouldTimeOneCallInSixtyFourAlsoOfCallsThatRepeatAPattern() {
        int calls = 1 << 16;
        for (int pattern : new int[] {1, 2, 16, 64}) {
            long timed = LongStream.range(0, calls)
                    .filter(call -> CallTimes.begin(call * pattern) != 0)
                    .count();
            assertThat(timed).as("of every %d. call", pattern).isBetween(calls / 80L, calls / 50L);
        }
    }
}
