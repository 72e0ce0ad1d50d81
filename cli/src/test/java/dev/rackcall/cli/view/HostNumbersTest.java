package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What an agent answers, and what that costs its host. */
class HostNumbersTest {
    private final FakeWatch watch = new FakeWatch();

    private ViewSampler start(Duration patience) {
        return ViewSampler.start(new ViewHistory("a", "", _ -> Optional.empty()), watch::start, patience);
    }

    private static ViewState await(HostView agent, long after) {
        AtomicReference<Optional<ViewState>> found = new AtomicReference<>(Optional.empty());
        Await.until("news", () -> {
            found.set(agent.latest(after));
            return found.get().isPresent();
        });
        return found.get().orElseThrow();
    }

    @Test
    void shouldCostOneWatchForAllReadersAndNoneWithoutThem() throws InterruptedException {
        try (ViewSampler sampler = start(Duration.ofSeconds(2))) {
            HostView agent = new HostNumbers.Answers(sampler);
            assertThat(watch.starts).hasValue(0);
            watch.report = Rows.report(Rows.connection(7, "/shop/cart", 1, 2));
            ViewState first = await(agent, 0);
            assertThat(first.connections()).hasSize(1);
            Await.until("the end of the watch without readers", () -> watch.ends.get() == watch.starts.get());
            long last = sampler.latest().sequence();
            assertThat(await(agent, 0).sequence())
                    .as("not what was seen before the pause")
                    .isGreaterThan(Math.max(last, first.sequence()));
        }
    }

    @Test
    void shouldGiveAMomentOnlySoOften() throws InterruptedException {
        watch.most = 1;
        try (ViewSampler sampler = start(Duration.ofHours(1))) {
            HostView agent = new HostNumbers.Answers(sampler);
            long sequence = await(agent, 0).sequence();
            int answers = 1;
            while (agent.latest(0).isPresent()) {
                answers++;
            }
            assertThat(answers).isEqualTo(HostNumbers.Answers.MOST_ANSWERS);
            assertThat(agent.latest(sequence)).isEmpty();
            assertThat(watch.starts).hasValue(1);
        }
    }
}
