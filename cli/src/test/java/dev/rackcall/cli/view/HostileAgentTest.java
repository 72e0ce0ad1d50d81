package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cli.top.TopReport;
import dev.rackcall.cli.top.TopReport.ConnectionRow;
import dev.rackcall.cli.top.TopReport.ProcessRow;
import dev.rackcall.cli.view.RackReport.RackAgent;
import dev.rackcall.cli.view.RackView.OtherHost;
import dev.rackcall.cli.view.ViewState.ConnectionEdge;
import dev.rackcall.cli.view.ViewState.ProcessNode;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.Await;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Agents that tell nonsense, or nothing: their hosts show an error, and all others their numbers. */
class HostileAgentTest {
    private static final ConnectionRow ROW = Rows.connection(7, "/shop/cart", 1, 2);

    @TempDir
    private Path runtime;

    private final CountDownLatch silence = new CountDownLatch(1);
    private volatile HostView answers = _ -> Optional.empty();
    private RpcServer server;

    @BeforeEach
    void serve() {
        server = RpcServer.builder()
                .service(HostView.class, after -> answers.latest(after))
                .runtimeFolder(runtime)
                .start();
    }

    @AfterEach
    void close() {
        silence.countDown();
        server.close();
    }

    private AgentWatch watch() {
        return watch(Await.BOUND);
    }

    private AgentWatch watch(Duration bound) {
        return new AgentWatch(
                AgentWatch.open(RpcChannel.builder(HostView.CHANNEL).runtimeFolder(runtime), bound));
    }

    private static ViewState state(long sequence, List<ProcessNode> processes, ConnectionRow... rows) {
        return new ViewState(
                sequence,
                5,
                "a",
                Optional.empty(),
                0,
                0,
                processes,
                Stream.of(rows)
                        .map(row -> new ConnectionEdge(row, Optional.empty(), Optional.empty(), Optional.empty()))
                        .toList());
    }

    private static ConnectionRow row(
            String id, String channel, List<Integer> holders, String transport, String state, double rate, long count) {
        return new ConnectionRow(
                id,
                channel,
                Optional.of(1),
                Optional.of(2),
                holders,
                transport,
                state,
                rate,
                count,
                Optional.of(rate),
                Optional.empty(),
                Optional.empty(),
                0,
                1,
                0,
                false,
                TopReport.WaitRates.NONE,
                count,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    private static ViewState of(ConnectionRow... rows) {
        return state(1, List.of(), rows);
    }

    private static ViewState of(ProcessRow... rows) {
        return state(1, Stream.of(rows).map(row -> new ProcessNode(row, false)).toList());
    }

    static List<ViewState> nonsense() {
        List<Integer> none = List.of();
        List<ViewState> all = new ArrayList<>(List.of(
                of(ROW, ROW),
                of(row("7", "/a", none, "HOST", "open", 1, 1)),
                of(row("1-<b>", "/a", none, "HOST", "open", 1, 1)),
                of(row("1-1", "/a\u001b[2J", none, "HOST", "open", 1, 1)),
                of(row("1-1", "/a\u202e", none, "HOST", "open", 1, 1)),
                of(row("1-1", "/a\u200b", none, "HOST", "open", 1, 1)),
                of(row("1-1", "/a\u2028", none, "HOST", "open", 1, 1)),
                of(row("1-1", "/" + "a".repeat(5000), none, "HOST", "open", 1, 1)),
                of(row("1-1", "/a", none, "<img>", "open", 1, 1)),
                of(row("1-1", "/a", none, "HOST", "__proto__<", 1, 1)),
                of(row("1-1", "/a", IntStream.range(0, 5000).boxed().toList(), "HOST", "open", 1, 1)),
                of(row("1-1", "/a", List.of(-1), "HOST", "open", 1, 1)),
                of(row("1-1", "/a", none, "HOST", "open", 1, -1)),
                of(row("1-1", "/a", none, "HOST", "open", 1, Long.MAX_VALUE)),
                of(row("1-1", "/a", none, "HOST", "open", 1e300, 1)),
                of(IntStream.range(0, 101)
                        .mapToObj(each -> Rows.connection(each, "/a", 1, 2))
                        .toArray(ConnectionRow[]::new)),
                of(new ProcessRow(-5, "p", 0, 0, 0, 0, 0)),
                of(new ProcessRow(5, "p\n", 0, 0, 0, 0, 0)),
                of(IntStream.range(0, 5000)
                        .mapToObj(pid -> new ProcessRow(pid, "p", 0, 0, 0, 0, 0))
                        .toArray(ProcessRow[]::new)),
                state(-1, List.of())));
        for (double rate : new double[] {-1, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            all.add(of(row("1-1", "/a", none, "HOST", "open", rate, 1)));
        }
        return all;
    }

    @ParameterizedTest
    @MethodSource("nonsense")
    void shouldRefuseNonsense(ViewState told) {
        answers = _ -> Optional.of(told);
        AgentWatch watch = watch();
        assertThatThrownBy(() -> watch.watch(() -> false))
                .isInstanceOf(ViewSampler.UnseenHostException.class)
                .hasMessageStartingWith("what its agent tells makes no sense: ");
        assertThat(watch.report().connections()).isEmpty();
        watch.close();
    }

    @Test
    void shouldTakeWhatMakesSense() throws Exception {
        answers = _ -> Optional.of(of(ROW));
        AgentWatch watch = watch();
        assertThat(watch.watch(() -> false)).isTrue();
        assertThat(watch.report().connections()).containsExactly(ROW);
        assertThatThrownBy(() -> watch.watch(() -> false))
                .as("the same once more")
                .hasMessageContaining("a sequence that is not later than the last is impossible");
        watch.close();
    }

    /** With more connections than an agent may tell, one that is missing may live. */
    @Test
    void shouldNotTakeAConnectionThatIsLeftOutForClosed() throws Exception {
        ConnectionRow other = Rows.connection(8, "/shop/stock", 3, 4);
        ViewHistory history = new ViewHistory("a", "", _ -> Optional.empty());
        AgentWatch watch = watch();
        assertThat(shown(history, watch, of(ROW, other))).containsExactly("/shop/cart open", "/shop/stock open");
        assertThat(shown(history, watch, state(2, List.of(), other).leavingOut(1)))
                .containsExactly("/shop/stock open");
        assertThat(shown(history, watch, state(3, List.of(), ROW, other).leavingOut(1)))
                .containsExactly("/shop/cart open", "/shop/stock open");
        assertThat(shown(history, watch, state(4, List.of(), other)))
                .containsExactly("/shop/stock open", "/shop/cart closed");
        assertThat(shown(history, watch, state(5, List.of(), other).leavingOut(1)))
                .as("it was told to be closed")
                .containsExactly("/shop/stock open", "/shop/cart closed");
        watch.close();
    }

    private List<String> shown(ViewHistory history, AgentWatch watch, ViewState told) throws Exception {
        answers = _ -> Optional.of(told);
        assertThat(watch.watch(() -> false)).isTrue();
        history.forget(watch::isLeftOut);
        return history.add(told.sequence(), 1, 1, watch.report(), watch::isAlive).connections().stream()
                .map(edge -> edge.row().channel() + " " + edge.row().state())
                .toList();
    }

    @Test
    void shouldShowOtherHostsWhileAnAgentIsSilent() throws InterruptedException {
        answers = _ -> {
            try {
                silence.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return Optional.empty();
        };
        FakeWatch well = new FakeWatch();
        List<String> problems = new CopyOnWriteArrayList<>();
        RackHosts hosts = new RackHosts(
                agent -> ViewSampler.start(
                        new ViewHistory(agent.host(), "", _ -> Optional.empty()),
                        agent.host().equals("a") ? () -> noting(watch(Duration.ofSeconds(1)), problems) : well::start,
                        ViewSampler.PATIENCE),
                ViewHistory.GONE);
        try (hosts) {
            hosts.follow(List.of(
                    new RackAgent("a-1", "a", URI.create("vq://a:1")),
                    new RackAgent("b-1", "b", URI.create("vq://b:1"))));
            // A busy machine may delay the first connections.
            Await.until("the silence of a", () -> {
                assertThat(state(hosts, "b").problem())
                        .as("what b tells meanwhile")
                        .isIn(Optional.empty(), Optional.of("not watched yet"));
                return problems.stream()
                        .anyMatch(why -> why.startsWith("its agent does not answer: DEADLINE_EXCEEDED"));
            });
            Await.until("the error of a", () -> state(hosts, "a").sequence() > 0);
            assertThat(state(hosts, "a").problem()).isPresent();
            long before = state(hosts, "b").sequence();
            assertThat(state(hosts, "b").problem()).isEmpty();
            Await.until("news of b", () -> state(hosts, "b").sequence() > before);
        }
    }

    /** The same watch, which notes why it fails. */
    private static ViewSampler.Watch noting(AgentWatch watch, List<String> problems) {
        return new ViewSampler.Watch() {
            @Override
            public boolean watch(BooleanSupplier isLeft) throws IOException, InterruptedException {
                try {
                    return watch.watch(isLeft);
                } catch (IOException e) {
                    problems.add(e.getMessage());
                    throw e;
                }
            }

            @Override
            public TopReport report() {
                return watch.report();
            }

            @Override
            public boolean isAlive(int pid) {
                return watch.isAlive(pid);
            }

            @Override
            public void close() {
                watch.close();
            }
        };
    }

    private static ViewState state(RackHosts hosts, String host) {
        return hosts.states().stream()
                .map(OtherHost::state)
                .filter(state -> state.host().equals(host))
                .findFirst()
                .orElseThrow();
    }
}
