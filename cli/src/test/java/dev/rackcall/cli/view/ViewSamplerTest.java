package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cli.top.TopReport;
import dev.rackcall.cli.top.TopReport.ConnectionRow;
import dev.rackcall.cli.top.TopReport.ProcessRow;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.List;
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

    @Test
    void shouldLeaveOutTheCallsOfViews() {
        ConnectionRow cart = Rows.connection(1, "/shop/cart", 1, 2);
        ConnectionRow ofView = Rows.connection(2, HostView.CHANNEL, 1, 3);
        ConnectionRow invalid = ConnectionRow.invalid(Rows.id(3), HostView.CHANNEL, List.of(4), 0, "planted");
        TopReport seen = new TopReport(
                List.of(
                        new ProcessRow(1, "server-and-agent", 2, 0, 1.25 * Rows.RATE, 0, 9),
                        new ProcessRow(2, "client", 0, 1, 0, Rows.RATE, 9),
                        new ProcessRow(3, "view", 0, 1, 0, Rows.RATE, 9),
                        new ProcessRow(4, "alone", 0, 0, 0, 0, 9)),
                List.of(cart, ofView, invalid),
                7);
        TopReport shown = ViewSampler.withoutViews(seen);
        assertThat(shown.connections()).containsExactly(cart, invalid);
        assertThat(shown.processes())
                .containsExactly(
                        new ProcessRow(1, "server-and-agent", 1, 0, 0.25 * Rows.RATE, 0, 9),
                        seen.processes().get(1),
                        seen.processes().get(3));
        assertThat(shown.notReadable()).isEqualTo(7);
    }

    private static ViewState next(ViewSampler sampler, long sequence) {
        try {
            return sampler.awaitAfter(sequence);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
