package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.rackcall.cli.top.TopReport.ConnectionRow;
import dev.rackcall.cli.top.TopReport.ProcessRow;
import dev.rackcall.cli.view.ViewState.ConnectionEdge;
import dev.rackcall.cli.view.ViewState.ProcessNode;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What fits into an agent's answer. */
class HostStatesTest {
    private static final int MANY = 400;

    @Test
    void shouldKeepWhatDiedAndTheBusiestWithTheirProcesses() {
        ViewState all = new ViewState(
                7,
                8,
                "a",
                Optional.empty(),
                3,
                5,
                IntStream.range(1, MANY)
                        .mapToObj(
                                pid -> new ProcessNode(new ProcessRow(pid, "p" + pid, 1, 1, 1, 1, 1), pid == MANY - 1))
                        .toList(),
                IntStream.range(1, MANY)
                        .mapToObj(each -> edge(
                                row(each, each == MANY - 1 ? "server gone" : "open"),
                                each == MANY - 1 ? Optional.of(9L) : Optional.empty()))
                        .toList());
        ViewState cut = HostStates.fit(all, 10);
        assertThat(cut.connections())
                .extracting(edge -> edge.row().id())
                .startsWith(Rows.id(MANY - 1), Rows.id(1))
                .hasSize(10);
        assertThat(cut.leftOut()).isEqualTo(5 + MANY - 1 - 10);
        assertThat(cut.processes()).hasSize(30);
        assertThat(cut.processes().subList(0, 10))
                .extracting(node -> node.row().pid())
                .containsExactlyInAnyOrder(1, 2, 3, 4, 5, 6, 7, 8, 9, MANY - 1);
        assertThatCode(() -> HostStates.check(HostStates.fit(all, HostStates.MOST_CONNECTIONS), 0))
                .doesNotThrowAnyException();
    }

    /** A host whose connections are short has far more that have ended than live ones. */
    @Test
    void shouldPreferLiveConnectionsToThoseThatEnded() {
        List<ConnectionEdge> ended = IntStream.range(0, MANY)
                .mapToObj(each ->
                        edge(row(each, each % 2 == 0 ? "closed" : "client gone"), Optional.of((long) MANY - each)))
                .toList();
        List<ConnectionEdge> live = IntStream.range(MANY, MANY + 9)
                .mapToObj(each -> edge(row(each, "open"), Optional.empty()))
                .toList();
        ConnectionEdge death = edge(row(MANY + 9, "server gone"), Optional.of(59L));
        List<ConnectionEdge> all =
                Stream.of(ended, List.of(death), live).flatMap(List::stream).toList();
        assertThat(fit(all, 10))
                .as("the server's death, the last client's death, and live ones")
                .startsWith(death, ended.get(MANY - 1))
                .containsAll(live.subList(0, 8))
                .hasSize(10);
        assertThat(fit(all, 15))
                .as("all that live")
                .startsWith(death, ended.get(MANY - 1), ended.get(MANY - 3))
                .containsAll(live)
                .hasSize(15);
        assertThat(fit(live, 10)).as("no place stays empty").isEqualTo(live);
        assertThat(fit(ended, 10)).hasSize(10);
    }

    private static List<ConnectionEdge> fit(List<ConnectionEdge> connections, int most) {
        return HostStates.fit(new ViewState(1, 2, "a", Optional.empty(), 0, 0, List.of(), connections), most)
                .connections();
    }

    /** The other host takes a process that is not named for alive, and so its connection for closed. */
    @Test
    void shouldNameTheDeadEvenIfTheirConnectionsDoNotFit() {
        List<ProcessNode> processes = IntStream.range(1, MANY)
                .mapToObj(pid -> new ProcessNode(new ProcessRow(pid, "p", 1, 1, 1, 1, 1), pid == MANY - 1))
                .toList();
        ViewState all = new ViewState(
                1,
                2,
                "a",
                Optional.empty(),
                0,
                0,
                processes,
                List.of(edge(row(1, "open"), Optional.empty()), edge(row(MANY - 1, "server gone"), Optional.of(3L))));
        assertThat(HostStates.fit(all, 1).processes())
                .filteredOn(ProcessNode::hasEnded)
                .hasSize(1);
    }

    private static ConnectionRow row(int pid, String state) {
        return Rows.connection(pid, "/shop/cart", Optional.of(pid), Optional.of(pid), state);
    }

    /** One process's memory must not make all that its host tells incredible. */
    @Test
    void shouldMarkWhatNoOtherHostWouldBelieve() {
        ViewState cut = HostStates.fit(
                new ViewState(
                        1,
                        2,
                        "a",
                        Optional.empty(),
                        0,
                        0,
                        List.of(new ProcessNode(new ProcessRow(1, "p", 1, 1, -5, Double.NaN, 1), false)),
                        List.of(
                                edge(Rows.connection(1, "/a\u001b", 1, 1), Optional.empty()),
                                edge(Rows.connection(2, "/b", 1, 1), Optional.empty()))),
                10);
        assertThat(cut.connections()).extracting(edge -> edge.row().state()).containsExactly("invalid", "open");
        assertThat(cut.connections().getFirst().row().invalid()).hasValue("a text is impossible");
        assertThatCode(() -> HostStates.check(cut, 0)).doesNotThrowAnyException();
    }

    @Test
    void shouldMakeAnErrorFit() {
        ViewState failed = new ViewHistory("a", "", _ -> Optional.empty()).failed(1, 2, "no\n" + "x".repeat(5000));
        ViewState cut = HostStates.fit(failed, 1);
        assertThat(cut.problem()).hasValueSatisfying(text -> assertThat(text).startsWith("no xxx"));
        assertThatCode(() -> HostStates.check(cut, 0)).doesNotThrowAnyException();
        ViewState turned = HostStates.fit(
                new ViewHistory("a", "", _ -> Optional.empty()).failed(1, 2, "a\u202e" + "\ud83d\ude80".repeat(5000)),
                1);
        assertThat(turned.problem()).hasValueSatisfying(text -> assertThat(text).startsWith("a \ud83d\ude80"));
        assertThatCode(() -> HostStates.check(turned, 0)).doesNotThrowAnyException();
    }

    private static ConnectionEdge edge(ConnectionRow row, Optional<Long> gone) {
        return new ConnectionEdge(row, gone, Optional.empty(), Optional.empty());
    }
}
