package dev.rackcall.shm.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SpinLimitTest {
    @Test
    void shouldLetInAsManyAsMaySpin() {
        assertThat(SpinLimit.enter(1)).isTrue();
        long limited = WaitCounts.of(WaitCounts.Kind.LIMITED);
        assertThat(SpinLimit.enter(1)).isFalse();
        assertThat(WaitCounts.of(WaitCounts.Kind.LIMITED)).isEqualTo(limited + 1);
        assertThat(SpinLimit.enter(2)).as("a refusal does not count").isTrue();
        SpinLimit.leave();
        SpinLimit.leave();
        assertThat(SpinLimit.enter(1)).isTrue();
        SpinLimit.leave();
    }
}
