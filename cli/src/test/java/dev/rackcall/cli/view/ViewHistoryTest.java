package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cli.top.TopReport;
import dev.rackcall.cli.top.TopReport.ConnectionRow;
import dev.rackcall.cli.view.ViewState.ConnectionEdge;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is remembered of connections, and for how long. */
class ViewHistoryTest {
    private static final int SERVER = 100;
    private static final int CLIENT = 200;
    private static final TopReport NOTHING = new TopReport(List.of(), List.of(), 0);

    private final ViewHistory history = new ViewHistory("here", " --host here", _ -> Optional.empty());
    private final Set<Integer> dead = new HashSet<>();
    private long seconds;

    private ViewState add(TopReport report) {
        seconds++;
        return history.add(
                seconds,
                TimeUnit.SECONDS.toMillis(seconds),
                TimeUnit.SECONDS.toNanos(seconds),
                report,
                pid -> !dead.contains(pid));
    }

    private ConnectionEdge only(ViewState state) {
        assertThat(state.connections()).hasSize(1);
        return state.connections().getFirst();
    }

    private static ConnectionRow cart() {
        return Rows.connection(1, "/shop/cart", SERVER, CLIENT);
    }

    @Test
    void shouldRememberFiveMinutesAndNoMore() {
        for (int i = 0; i < ViewHistory.MOST_POINTS + 50; i++) {
            add(Rows.report(cart()));
        }
        ViewSeries series = history.series();
        assertThat(series.times()).hasSize(ViewHistory.MOST_POINTS).isSorted();
        assertThat(series.times().getLast()).isEqualTo(TimeUnit.SECONDS.toMillis(seconds));
        assertThat(series.connections().get(Rows.id(1)).rate())
                .hasSize(ViewHistory.MOST_POINTS)
                .containsOnly(Rows.RATE);
    }

    @Test
    void shouldHaveGapsWhereAConnectionWasNotThere() {
        add(NOTHING);
        add(Rows.report(cart()));
        add(NOTHING);
        ViewSeries.Numbers numbers = history.series().connections().get(Rows.id(1));
        assertThat(numbers.rate()).containsExactly(null, Rows.RATE, null);
        assertThat(numbers.mean()).containsExactly(null, 5.0, null);
        assertThat(numbers.p50()).containsExactly(null, 4.0, null);
        assertThat(numbers.p99()).containsExactly(null, 9.0, null);
        assertThat(numbers.inFlight()).containsExactly(null, 0.5, null);
    }

    /** A client that notices at once closes the memory before anything can be seen in it. */
    @Test
    void shouldShowThatAServerDiedEvenIfItsConnectionVanishedAtOnce() {
        add(Rows.report(cart()));
        dead.add(SERVER);
        ViewState state = add(NOTHING);
        ConnectionEdge edge = only(state);
        assertThat(edge.row().state()).isEqualTo("server gone");
        assertThat(edge.row().serverPid()).hasValue(SERVER);
        assertThat(edge.row().requestsPerSecond()).isZero();
        assertThat(edge.goneSeconds()).hasValue(0L);
        assertThat(state.processes())
                .extracting(node -> node.row().name() + " " + node.hasEnded())
                .containsExactlyInAnyOrder("process" + SERVER + " true", "process" + CLIENT + " false");
        assertThat(only(add(NOTHING)).goneSeconds()).hasValue(1L);
    }

    @Test
    void shouldKeepTheLastKnownPidOfADeadServer() {
        add(Rows.report(cart()));
        ConnectionRow gone = Rows.connection(1, "/shop/cart", Optional.empty(), Optional.of(CLIENT), "server gone");
        assertThat(only(add(Rows.report(gone))).row().serverPid()).hasValue(SERVER);
    }

    @Test
    void shouldTellAClosedConnectionFromADeadProcess() {
        add(Rows.report(cart()));
        assertThat(only(add(NOTHING)).row().state()).isEqualTo("closed");
        dead.add(CLIENT);
        assertThat(only(add(NOTHING)).row().state()).isEqualTo("closed");
    }

    @Test
    void shouldForgetWhatEndedAMinuteAgo() {
        add(Rows.report(cart()));
        dead.add(SERVER);
        add(NOTHING);
        seconds += ViewHistory.GONE.toSeconds();
        ViewState state = add(NOTHING);
        assertThat(state.connections()).isEmpty();
        assertThat(state.processes()).isEmpty();
        assertThat(history.series().connections()).isEmpty();
    }

    @Test
    void shouldBoundWhatItKeepsWhateverProcessesMake() {
        for (int round = 0; round < 3; round++) {
            int first = round * 10_000;
            ConnectionRow[] rows = IntStream.range(first, first + ViewHistory.MOST_CONNECTIONS + 7)
                    .mapToObj(i -> Rows.connection(i, "/c" + i, 2 * i + 1, 2 * i + 2))
                    .toArray(ConnectionRow[]::new);
            ViewState state = add(Rows.report(rows));
            assertThat(state.connections()).hasSize(ViewHistory.MOST_CONNECTIONS);
            assertThat(state.leftOut()).isEqualTo(7);
            assertThat(state.processes()).hasSizeLessThanOrEqualTo(2 * ViewHistory.MOST_CONNECTIONS);
            assertThat(history.series().connections()).hasSize(ViewHistory.MOST_CONNECTIONS);
        }
    }

    @Test
    void shouldGiveACommandForNamesOfChannelsOnly() {
        assertThat(only(add(Rows.report(cart()))).explain()).hasValue("./rackcall explain /shop/cart --host here");
        for (String name : List.of("/x;reboot", "/$(reboot)", "/a b", "/<b>", "/a\u202eb", "/" + "x".repeat(200))) {
            ViewState state = new ViewHistory("here", " --host here", _ -> Optional.empty())
                    .add(1, 1, 1, Rows.report(Rows.connection(1, name, SERVER, CLIENT)), pid -> true);
            assertThat(only(state).explain()).as(name).isEmpty();
        }
    }

    /** The command knows no gRPC servers. */
    @Test
    void shouldGiveNoCommandForGrpc() {
        ConnectionRow row =
                Rows.connection(1, "/shop/cart", Optional.of(SERVER), Optional.of(CLIENT), TopReport.GRPC, "open");
        assertThat(only(add(Rows.report(row))).explain()).isEmpty();
    }
}
