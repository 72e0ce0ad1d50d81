package dev.rackcall.rack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rack.guest.Step;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;

final class RackTestCommandTest {
    @Test
    void shouldSkipMeasurementsByDefault() {
        assertThat(RackTestCommand.steps(EnumSet.noneOf(Step.class), false))
                .containsExactlyElementsOf(EnumSet.complementOf(EnumSet.of(Step.CONNECT)));
    }

    @Test
    void shouldIncludeAllStepsInALongRun() {
        assertThat(RackTestCommand.steps(EnumSet.noneOf(Step.class), true)).containsExactly(Step.values());
    }

    @Test
    void shouldRunOnlyChosenStepsInTheirOrder() {
        assertThat(RackTestCommand.steps(EnumSet.of(Step.CONNECT, Step.MEMORY), false))
                .containsExactly(Step.MEMORY, Step.CONNECT);
    }
}
