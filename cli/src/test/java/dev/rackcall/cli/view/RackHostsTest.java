package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cli.view.RackReport.RackAgent;
import dev.rackcall.cli.view.RackView.OtherHost;
import dev.rackcall.testkit.Await;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which agents are followed. */
class RackHostsTest {
    private final AtomicInteger started = new AtomicInteger();
    private final FakeWatch watch = new FakeWatch();

    private static RackAgent agent(String id, String host) {
        return new RackAgent(id, host, URI.create("vq://" + host + ":1"));
    }

    private ViewSampler follow(RackAgent agent) {
        started.incrementAndGet();
        return ViewSampler.start(
                new ViewHistory(agent.host(), "", _ -> Optional.empty()), watch::start, ViewSampler.PATIENCE);
    }

    private static List<String> keys(RackHosts hosts) {
        return hosts.states().stream().map(OtherHost::key).toList();
    }

    @Test
    void shouldKeepAnAgentThatIsGoneForAWhile() throws InterruptedException {
        try (RackHosts hosts = new RackHosts(this::follow, ViewHistory.GONE)) {
            hosts.follow(List.of(agent("a-1", "a"), agent("b-1", "b")));
            hosts.follow(List.of(agent("b-1", "b")));
            assertThat(keys(hosts)).containsExactly("a-1", "b-1");
            hosts.follow(List.of(agent("b-1", "b"), agent("a-2", "a")));
            assertThat(keys(hosts)).as("after its restart").containsExactly("b-1", "a-2");
            assertThat(started).hasValue(3);
        }
        try (RackHosts hosts = new RackHosts(this::follow, Duration.ZERO)) {
            hosts.follow(List.of(agent("a-1", "a")));
            hosts.follow(List.of());
            Await.until("the end of its while", () -> {
                try {
                    hosts.follow(List.of());
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                return keys(hosts).isEmpty();
            });
        }
    }

    /** Without pages no agent is asked, so what it told last gets old. */
    @Test
    void shouldTellWhichNumbersAreFromBeforeAPause() throws InterruptedException {
        Duration patience = Duration.ofSeconds(1);
        RackHosts hosts = new RackHosts(
                agent -> ViewSampler.start(
                        new ViewHistory(agent.host(), "", _ -> Optional.empty()), watch::start, patience),
                ViewHistory.GONE);
        try (hosts) {
            hosts.follow(List.of(agent("a-1", "a")));
            assertThat(hosts.states()).noneMatch(OtherHost::isOld);
            Await.until("news", () -> isLive(hosts));
            Await.until("the end of the watch without readers", () -> watch.ends.get() == watch.starts.get());
            // The next interval lasts.
            watch.most = watch.intervals.get();
            OtherHost old = hosts.states().getFirst();
            assertThat(old.isOld()).isTrue();
            assertThat(old.state().problem()).isEmpty();
            watch.most = Integer.MAX_VALUE;
            Await.until("news after the pause", () -> isLive(hosts));
        }
    }

    private static boolean isLive(RackHosts hosts) {
        OtherHost host = hosts.states().getFirst();
        return !host.isOld() && host.state().problem().isEmpty();
    }

    @Test
    void shouldFollowOnlySoManyAgentsAndShowOnlySoManyConnections() throws InterruptedException {
        watch.intervalNanos = 20_000_000;
        watch.report = Rows.report(IntStream.range(1, 90)
                .mapToObj(each -> Rows.connection(each, "/shop/cart", 1, 2))
                .toArray(dev.rackcall.cli.top.TopReport.ConnectionRow[]::new));
        try (RackHosts hosts = new RackHosts(this::follow, ViewHistory.GONE)) {
            hosts.follow(IntStream.range(0, 3 * RackHosts.MOST_HOSTS)
                    .mapToObj(each -> agent("id-" + each, "h" + each))
                    .toList());
            assertThat(keys(hosts)).hasSize(RackHosts.MOST_HOSTS);
            assertThat(hosts.leftOut()).isEqualTo(2 * RackHosts.MOST_HOSTS);
            Await.until(
                    "the numbers of all",
                    () -> hosts.states().stream()
                            .allMatch(host -> host.state().problem().isEmpty()));
            assertThat(hosts.states()).allSatisfy(host -> {
                assertThat(host.state().connections()).hasSize(15);
                assertThat(host.state().leftOut()).isEqualTo(89 - 15);
            });
            assertThat(hosts.series()).hasSize(RackHosts.MOST_HOSTS);
        }
    }
}
