package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cli.view.Rack.OtherHost;
import dev.rackcall.cli.view.ViewState.ConnectionEdge;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@code view} learns of other hosts from their agents. */
@Timeout(600)
class OtherHostsTest {
    private static final String CHANNEL = "/rack/stock";

    @TempDir
    private Path folder;

    private static ViewState state(RackWatch watch, String host) {
        // As a page does.
        watch.report();
        return watch.hosts().stream()
                .map(OtherHost::state)
                .filter(state -> state.host().equals(host))
                .findFirst()
                .orElse(HostStates.NOTHING);
    }

    private static Optional<ConnectionEdge> connection(RackWatch watch, String host) {
        return state(watch, host).connections().stream()
                .filter(edge -> edge.row().channel().equals(CHANNEL))
                .findFirst();
    }

    private static void awaitMovingNumbers(RackWatch watch, String host) {
        Await.until(
                "calls at " + host,
                () -> connection(watch, host)
                        .filter(edge -> edge.row().requestsPerSecond() > 0)
                        .isPresent());
        long before = connection(watch, host).orElseThrow().row().requests();
        Await.until(
                "more calls at " + host,
                () -> connection(watch, host)
                        .filter(edge -> edge.row().requests() > before)
                        .isPresent());
    }

    @Test
    void shouldShowTheNumbersOfHostsAndWhichAgentIsGone() throws Exception {
        try (PlayedRack rack = new PlayedRack(folder)) {
            PlayedRack.Host a = rack.host("a");
            PlayedRack.Host b = rack.host("b");
            ChildJvm stock = b.run("stock-server", CHANNEL + "@soft://127.0.0.1:0");
            String address = stock.awaitLine("soft:");
            stock.awaitLine("ready");
            ChildJvm front = a.run("shop-front", "-", CHANNEL + "@" + address + "=200");
            front.awaitLine("ready");
            RackHosts hosts = new RackHosts(agent -> AgentWatch.follow(agent, ""), ViewHistory.GONE);
            try (RackWatch watch = RackWatch.start(rack.directory(), "here", hosts)) {
                awaitMovingNumbers(watch, "a");
                awaitMovingNumbers(watch, "b");
                ConnectionEdge atA = connection(watch, "a").orElseThrow();
                assertThat(atA.row().clientPid()).hasValue((int) front.pid());
                assertThat(atA.row().transport()).isEqualTo("TCP");
                assertThat(connection(watch, "b").orElseThrow().row().serverPid())
                        .hasValue((int) stock.pid());
                assertThat(state(watch, "a").processes())
                        .extracting(node -> node.row().name())
                        .containsExactly("shop-front");
                assertThat(watch.report().orElseThrow().servers()).isEmpty();

                long killed = System.nanoTime();
                a.agent().kill();
                Await.until(
                        "the page to be told", () -> state(watch, "a").problem().isPresent());
                System.out.printf(
                        "OtherHostsTest: the agent's death was known after %d ms: %s%n",
                        (System.nanoTime() - killed) / 1_000_000,
                        state(watch, "a").problem().orElseThrow());
                awaitMovingNumbers(watch, "b");
                assertThat(watch.hosts()).as("a host without its agent stays").hasSize(2);

                stock.kill();
                Await.equal(
                        "the state",
                        Optional.of("server gone"),
                        () -> connection(watch, "b").map(edge -> edge.row().state()));
                assertThat(state(watch, "b").processes())
                        .filteredOn(ViewState.ProcessNode::hasEnded)
                        .extracting(node -> node.row().pid())
                        .isEqualTo(List.of((int) stock.pid()));
            }
        }
    }
}
