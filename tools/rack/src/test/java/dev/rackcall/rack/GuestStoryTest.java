package dev.rackcall.rack;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rack.Summary.StepResult;
import dev.rackcall.rack.guest.Console;
import dev.rackcall.rack.guest.Step;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GuestStoryTest {
    private final GuestStory story = new GuestStory(new GuestSpec("A", Optional.empty()));

    private StepResult resultOf(Step step) {
        List<StepResult> results = story.results(EnumSet.of(step));
        assertThat(results).hasSize(1);
        return results.getFirst();
    }

    @Test
    void shouldReportTheResultAndTheDurationOfAStep() {
        story.tells(new Console.Up(), 5);
        story.tells(new Console.Begin(Step.MEMORY), 7);
        story.tells(new Console.End(Step.MEMORY, true, "fine"), 9.5);
        assertThat(story.isCutOff()).isFalse();

        assertThat(resultOf(Step.MEMORY)).isEqualTo(new StepResult(Step.MEMORY, "A", true, 2.5, "fine"));
        assertThat(story.upAfter()).isEqualTo(5);
        assertThat(new Summary(story.results(EnumSet.of(Step.MEMORY))).isGood()).isTrue();
    }

    @Test
    void shouldTreatMissingReportsAsFailures() {
        assertThat(resultOf(Step.MEMORY).ok()).isFalse();
        assertThat(resultOf(Step.MEMORY).text()).contains("did not come up");
        story.tells(new Console.Up(), 5);
        assertThat(resultOf(Step.MEMORY).text()).isEqualTo("was not reached");
        assertThat(story.isCutOff()).isFalse();
        story.tells(new Console.Begin(Step.MEMORY), 6);
        assertThat(story.isCutOff()).isTrue();
        story.tells(new Console.Off(134), 7);
        assertThat(resultOf(Step.MEMORY).text()).contains("did not end", "status 134");
        assertThat(resultOf(Step.MEMORY).ok()).isFalse();
    }

    @Test
    void shouldKeepAFailureEvenIfTheProgramEndsWell() {
        story.tells(new Console.End(Step.MEMORY, false, "1 lost"), 5);
        story.tells(new Console.Off(0), 6);

        assertThat(new Summary(story.results(EnumSet.of(Step.MEMORY))).isGood()).isFalse();
    }

    @Test
    void shouldTreatARequestedKillAsSuccess() {
        story.tells(new Console.Begin(Step.DEATH), 5);
        story.tells(new Console.Kill(Step.DEATH), 6);

        assertThat(resultOf(Step.DEATH).ok()).isTrue();
    }

    @Test
    void shouldIgnoreStepsOfOtherGuests() {
        assertThat(story.results(EnumSet.of(Step.VERBS))).isEmpty();
        assertThat(new Summary(List.of()).isGood()).isFalse();
    }

    @Test
    void shouldShowFailuresInTheTable() {
        story.tells(new Console.End(Step.MEMORY, false, "1 lost"), 5);

        assertThat(new Summary(story.results(EnumSet.of(Step.MEMORY))).table()).contains("memory", "FAILED", "1 lost");
    }
}
