package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cli.top.TopReport.ConnectionRow;
import dev.rackcall.cli.view.RackView.OtherHost;
import dev.rackcall.cli.view.ViewState.ConnectionEdge;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.quickstart.Door;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What {@code view} learns of other hosts from their agents. */
@Timeout(600)
class OtherHostsTest {
    private static final String CHANNEL = "/rack/stock";

    @TempDir
    private Path folder;

    /** The host's state, once it is as wanted. A busy machine may delay an agent, which the next answer mends. */
    private static ViewState await(RackWatch watch, String host, Predicate<ViewState> wanted) {
        AtomicReference<ViewState> found = new AtomicReference<>();
        Await.until("the state of " + host, () -> {
            // As a page does.
            watch.report();
            watch.hosts().stream()
                    .map(OtherHost::state)
                    .filter(state -> state.host().equals(host) && wanted.test(state))
                    .forEach(found::set);
            return found.get() != null;
        });
        return found.get();
    }

    private static Optional<ConnectionRow> connection(ViewState state) {
        return state.connections().stream()
                .map(ConnectionEdge::row)
                .filter(row -> row.channel().equals(CHANNEL))
                .findFirst();
    }

    /** Returns a state with calls, after one with fewer. */
    private static ViewState awaitMovingNumbers(RackWatch watch, String host) {
        ViewState first = await(
                watch,
                host,
                state -> connection(state)
                        .filter(row -> row.requestsPerSecond() > 0)
                        .isPresent());
        long before = connection(first).orElseThrow().requests();
        return await(
                watch,
                host,
                state ->
                        connection(state).filter(row -> row.requests() > before).isPresent());
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
            RackHosts hosts = new RackHosts(agent -> AgentWatch.follow(agent, ""), Duration.ofHours(1));
            try (RackWatch watch = RackWatch.start(rack.directory(), "here", hosts)) {
                ViewState atA = awaitMovingNumbers(watch, "a");
                ViewState atB = awaitMovingNumbers(watch, "b");
                assertThat(connection(atA).flatMap(ConnectionRow::clientPid)).hasValue((int) front.pid());
                assertThat(connection(atA).orElseThrow().transport()).isEqualTo("TCP");
                assertThat(connection(atB).flatMap(ConnectionRow::serverPid)).hasValue((int) stock.pid());
                assertThat(atA.processes())
                        .extracting(node -> node.row().name())
                        .containsExactly("shop-front");
                assertThat(watch.report().orElseThrow().servers()).isEmpty();

                awaitSilence(watch, "a", a.agent()::kill);
                awaitMovingNumbers(watch, "b");
                assertThat(watch.hosts()).as("a host without its agent stays").hasSize(2);

                stock.kill();
                ViewState ended = await(
                        watch,
                        "b",
                        state -> connection(state)
                                .filter(row -> row.state().equals("server gone"))
                                .isPresent());
                assertThat(ended.processes())
                        .filteredOn(ViewState.ProcessNode::hasEnded)
                        .extracting(node -> node.row().pid())
                        .isEqualTo(List.of((int) stock.pid()));

                awaitSilence(watch, "b", b.agent()::pause);
            }
        }
    }

    /** This process asks as a view does, and is a process of host a at the same time. */
    @Test
    void shouldNotShowTheCallsByWhichItAsks() throws Exception {
        int self = (int) ProcessHandle.current().pid();
        RackHosts hosts = new RackHosts(agent -> AgentWatch.follow(agent, ""), Duration.ofHours(1));
        try (PlayedRack rack = new PlayedRack(folder);
                RackWatch watch = RackWatch.start(rack.directory(), "here", hosts)) {
            PlayedRack.Host a = rack.host("a");
            await(watch, "a", state -> state.problem().isEmpty());
            // Other tests of this process may have connections, but not of this name.
            try (RpcServer _ = RpcServer.builder()
                            .service(Door.class, Door.Guest::name, CHANNEL)
                            .runtimeFolder(folder.resolve("doors"))
                            .start();
                    RpcChannel _ = RpcChannel.builder(CHANNEL)
                            .runtimeFolder(folder.resolve("doors"))
                            .open()) {
                a.show(self);
                ViewState seen = await(watch, "a", state -> connection(state).isPresent());
                assertThat(seen.connections())
                        .extracting(edge -> edge.row().channel())
                        .doesNotContain(HostView.CHANNEL);
            }
        }
    }

    private interface Blow {
        void strike() throws IOException, InterruptedException;
    }

    private static void awaitSilence(RackWatch watch, String host, Blow blow) throws IOException, InterruptedException {
        blow.strike();
        long start = System.nanoTime();
        ViewState silent = await(watch, host, state -> state.problem().isPresent());
        System.out.printf(
                "OtherHostsTest: the silence of %s was known after %d ms: %s%n",
                host, (System.nanoTime() - start) / 1_000_000, silent.problem().orElseThrow());
        assertThat(silent.connections()).isEmpty();
    }
}
