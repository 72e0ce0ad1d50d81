package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** When the sampler watches, and what its viewers get. */
class ViewSamplerTest {
    private static final Duration SHORT = Duration.ofMillis(20);

    private final FakeWatch watch = new FakeWatch();

    @Test
    void shouldWatchOnlyWhileAViewerLooks() throws InterruptedException {
        try (ViewSampler sampler =
                ViewSampler.start(new ViewHistory("here", "", _ -> Optional.empty()), watch::start, SHORT)) {
            assertThat(sampler.series().times()).isEmpty();
            assertThat(watch.starts).hasValue(0);

            ViewState first = sampler.awaitAfter(0);
            assertThat(first.problem()).isEmpty();
            assertThat(first.sequence()).isPositive();
            Await.until("the end of the watch without viewers", () -> watch.ends.get() == watch.starts.get());

            int seen = watch.intervals.get();
            assertThat(sampler.awaitAfter(0).sequence())
                    .as("not what was seen before the pause")
                    .isGreaterThan(first.sequence());
            assertThat(watch.intervals).hasValueGreaterThan(seen);
            assertThat(watch.starts).hasValueGreaterThan(1);
        }
        assertThat(watch.ends).hasValue(watch.starts.get());
    }

    @Test
    void shouldWatchForAViewerThatWaitsLongerThanItsPatience() throws InterruptedException {
        watch.intervalNanos = 5 * SHORT.toNanos();
        try (ViewSampler sampler =
                ViewSampler.start(new ViewHistory("here", "", _ -> Optional.empty()), watch::start, SHORT)) {
            assertThat(sampler.awaitAfter(0).problem()).isEmpty();
        }
    }

    @Test
    void shouldShareOneWatchBetweenViewers() throws InterruptedException {
        try (ViewSampler sampler = ViewSampler.start(
                new ViewHistory("here", "", _ -> Optional.empty()), watch::start, ViewSampler.PATIENCE)) {
            long sequence = sampler.awaitAfter(0).sequence();
            for (int viewer = 0; viewer < 5; viewer++) {
                sequence = sampler.awaitAfter(sequence).sequence();
            }
            assertThat(watch.starts).hasValue(1);
        }
    }

    @Test
    void shouldTellWhyItSeesNothingAndTryAgain() throws InterruptedException {
        watch.fails = true;
        try (ViewSampler sampler = ViewSampler.start(
                new ViewHistory("here", "", _ -> Optional.empty()), watch::start, ViewSampler.PATIENCE)) {
            ViewState state = sampler.awaitAfter(0);
            assertThat(state.problem())
                    .hasValueSatisfying(why -> assertThat(why).contains("no /proc"));
            watch.fails = false;
            long[] sequence = {state.sequence()};
            Await.until("a look that succeeds", () -> {
                ViewState next = next(sampler, sequence[0]);
                sequence[0] = next.sequence();
                return next.problem().isEmpty();
            });
        }
    }

    private static ViewState next(ViewSampler sampler, long sequence) {
        try {
            return sampler.awaitAfter(sequence);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
