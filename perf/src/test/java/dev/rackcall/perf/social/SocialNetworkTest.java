package dev.rackcall.perf.social;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.perf.harness.Launch;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import dev.rackcall.perf.social.SocialApi.Compose;
import dev.rackcall.perf.social.SocialApi.ComposedText;
import dev.rackcall.perf.social.SocialApi.Creator;
import dev.rackcall.perf.social.SocialApi.Draft;
import dev.rackcall.perf.social.SocialApi.Post;
import dev.rackcall.perf.social.SocialApi.Range;
import dev.rackcall.perf.social.SocialApi.ShortUrl;
import dev.rackcall.perf.social.SocialApi.Timelines;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both networks in processes of their own, and what the target computes. */
class SocialNetworkTest {
    private static final Launch SMALL =
            Launch.asUsersDo().withHeap(List.of("-XX:+UseSerialGC", "-Xmx64m", "-XX:TieredStopAtLevel=1"));

    @TempDir
    private Path directory;

    private static <T> T got(CompletableFuture<T> future) throws Exception {
        return future.get(60, TimeUnit.SECONDS);
    }

    /** Posts of users 7 and 8, then every timeline that should hold them, without the time. */
    private static List<Object> outcomes(SocialTransport.Connections network, List<List<Long>> followers)
            throws Exception {
        Compose compose = network.of(SocialRole.COMPOSE, Compose.class);
        Timelines own = network.of(SocialRole.OWN_TIMELINE, Timelines.class);
        Timelines home = network.of(SocialRole.HOME_TIMELINE, Timelines.class);
        long stranger = firstStranger(followers);
        String text = "Grüße @" + SocialGraph.name(stranger) + " and @nobody: http://example.org/page";
        long first = got(compose.compose(new Draft(SocialGraph.name(7), text)));
        long second = got(compose.compose(new Draft(SocialGraph.name(7), "second")));
        List<Object> outcomes = new ArrayList<>();
        for (Range range : List.of(new Range(7, 0, 10), new Range(7, 1, 2), new Range(7, 2, 5), new Range(8, 0, 10))) {
            outcomes.add(untimed(got(own.read(range))));
        }
        outcomes.add(untimed(got(home.read(new Range(stranger, 0, 10)))));
        for (long follower : followers.get(7)) {
            outcomes.add(untimed(got(home.read(new Range(follower, 0, 10)))));
        }
        Creator author = new Creator(7, SocialGraph.name(7));
        String shortened = "http://short-url/1";
        Post mentioning = new Post(
                first,
                author,
                new ComposedText(
                        text.replace("http://example.org/page", shortened),
                        List.of(new Creator(stranger, SocialGraph.name(stranger))),
                        List.of(new ShortUrl("http://example.org/page", shortened))),
                0);
        Post plain = new Post(second, author, new ComposedText("second", List.of(), List.of()), 0);
        assertThat(outcomes.subList(0, 5))
                .containsExactly(
                        List.of(plain, mentioning), List.of(mentioning), List.of(), List.of(), List.of(mentioning));
        assertThat(outcomes.subList(5, outcomes.size())).containsOnly(List.of(plain, mentioning));
        return outcomes;
    }

    private static long firstStranger(List<List<Long>> followers) {
        long user = 9;
        while (followers.get(7).contains(user)) {
            user++;
        }
        return user;
    }

    private static List<Post> untimed(List<Post> posts) {
        return posts.stream()
                .map(post -> new Post(post.id(), post.creator(), post.text(), 0))
                .toList();
    }

    @Test
    void shouldHoldWhatWasComposedOverBothTransports() throws Exception {
        List<List<Object>> outcomes = new ArrayList<>();
        try (Workspace workspace = Workspace.create(directory)) {
            for (SocialTransport transport : SocialTransport.values()) {
                Path part = workspace.newPart();
                try (SocialNetwork network = new SocialNetwork(transport, part, SMALL);
                        SocialTransport.Connections connections = transport.connect(part)) {
                    outcomes.add(outcomes(connections, SocialGraph.followers()));
                    assertThat(network.warmUp(50_000_000)).isPositive();
                    LoadGenerator.Load load = network.load(200, 1_000_000_000);
                    assertThat(load.failure()).isEmpty();
                    assertThat(load.failed()).isZero();
                    assertThat(load.latencies().count()).isEqualTo(200);
                    assertThat(load.latencies().p50Ns()).isPositive();
                    assertThat(load.processorSecondsPerMillion()).isPositive();
                }
            }
        }
        assertThat(outcomes.getFirst()).isEqualTo(outcomes.getLast());
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void shouldMakeAGraphAsLargeAsReedCollegeWithAPowerLaw() {
        List<List<Long>> followers = SocialGraph.followers();
        assertThat(followers).hasSize(962).isEqualTo(SocialGraph.followers());
        assertThat(followers.stream().mapToInt(List::size).sum()).isEqualTo(2 * 18_812);
        assertThat(followers).allSatisfy(friends -> assertThat(friends).hasSizeGreaterThanOrEqualTo(19));
        assertThat(followers.stream().mapToInt(List::size).max().orElseThrow()).isGreaterThan(100);
        for (int user = 0; user < followers.size(); user++) {
            for (long friend : followers.get(user)) {
                assertThat(followers.get((int) friend)).contains((long) user);
            }
        }
    }

    @Test
    void shouldKeepTheLastPostsOfATimeline() {
        TimelineStore store = new TimelineStore();
        for (long post = 1; post <= TimelineStore.KEPT + 5; post++) {
            store.add(3, post);
        }
        long newest = TimelineStore.KEPT + 5;
        assertThat(store.read(new Range(3, 0, 2))).containsExactly(newest, newest - 1);
        assertThat(store.read(new Range(3, TimelineStore.KEPT - 1, TimelineStore.KEPT + 9)))
                .containsExactly(6L);
        assertThat(store.read(new Range(4, 0, 2))).isEmpty();
    }

    @Test
    void shouldCompareWithGrpcAtTheSameLoad() {
        List<Result> results = SocialTarget.withRatios(List.of(
                result("social-rackcall-500", 10, 100),
                result("social-grpc-500", 40, 50),
                result("social-rackcall-1000", 10, 100)));
        assertThat(results.getFirst().figures())
                .containsEntry("grpc_ratio", 2.0)
                .containsEntry("grpc_p99_ratio", 0.25)
                .containsEntry("grpc_cpu_ratio", 1.0);
        assertThat(results.get(1).figures()).doesNotContainKey("grpc_ratio");
        assertThat(results.getLast().figures()).doesNotContainKey("grpc_ratio");
    }

    private static Result result(String name, long p99, double perSecond) {
        Measurement measurement = new Measurement(p99, p99, p99, p99, p99, 10, perSecond);
        return Result.of(name, BenchTarget.SOCIAL, 1, 0, measurement).with("cpu_s_per_million", 3.0);
    }
}
