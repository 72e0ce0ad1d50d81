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
import org.junit.jupiter.api.Test;

/** What fits into an agent's answer. */
class HostStatesTest {
    private static final int MANY = 400;

    @Test
    void shouldKeepWhatEndedAndTheBusiestWithTheirProcesses() {
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
                                Rows.connection(each, "/shop/cart", each, each),
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
    }

    private static ConnectionEdge edge(ConnectionRow row, Optional<Long> gone) {
        return new ConnectionEdge(row, gone, Optional.empty(), Optional.empty());
    }
}
