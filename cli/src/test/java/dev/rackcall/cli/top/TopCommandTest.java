package dev.rackcall.cli.top;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.cli.RackcallCommand;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What {@code rackcall top} shows of other processes. */
@Timeout(300)
class TopCommandTest {
    private static final long SEED = Long.getLong("rackcall.seed", System.nanoTime());
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private static final List<String> CONTAINER =
            List.of("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc");

    @TempDir
    private Path runtime;

    private static String top(String... arguments) {
        Object[] all = new Object[arguments.length + 1];
        all[0] = "top";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        ChildJvm.Result result = ChildJvm.of(RackcallCommand.class, all).run();
        assertThat(result.exitCode()).as(result.output()).isZero();
        return result.output();
    }

    private static JsonNode topAsJson(String channel) {
        String output = top("--once", "--json", "--channel", channel);
        String json =
                output.lines().filter(line -> line.startsWith("{")).findFirst().orElse(output);
        return JSON.readTree(json);
    }

    private static List<JsonNode> rows(JsonNode report, String field) {
        return StreamSupport.stream(report.get(field).spliterator(), false).toList();
    }

    @Test
    void shouldShowAConnectionBetweenOtherProcessesUntilItsServerDies() throws Exception {
        String channel = "/top/test" + ProcessHandle.current().pid();
        try (ChildJvm server = ChildJvm.start(TopServerChild.class, runtime, channel)) {
            server.awaitLine("serving");
            try (ChildJvm client = ChildJvm.start(TopClientChild.class, runtime, channel)) {
                client.awaitLine("calling");

                JsonNode report = topAsJson(channel);
                assertThat(rows(report, "connections"))
                        .as(report.toString())
                        .singleElement()
                        .satisfies(row -> {
                            assertThat(row.get("channel").asString()).isEqualTo(channel);
                            assertThat(row.get("serverPid").asLong()).isEqualTo(server.pid());
                            assertThat(row.get("clientPid").asLong()).isEqualTo(client.pid());
                            assertThat(row.get("state").asString()).isEqualTo("open");
                            assertThat(row.get("memoryBytes").asLong()).isPositive();
                            assertThat(row.get("transport").asString()).isEqualTo("HOST");
                            assertThat(row.get("waits").size()).isEqualTo(4);
                            for (String arena : List.of("requestArena", "replyArena", "sharedArena")) {
                                assertThat(row.get(arena).get("takenBytes").asLong())
                                        .as(arena)
                                        .isBetween(
                                                1L,
                                                row.get(arena).get("quotaBytes").asLong());
                            }
                            assertThat(row.get("invalid").isNull()).isTrue();
                        });
                assertThat(rows(report, "processes"))
                        .extracting(row ->
                                row.get("pid").asLong() + " " + row.get("name").asString() + " "
                                        + row.get("serves").asInt() + " "
                                        + row.get("calls").asInt())
                        .containsExactlyInAnyOrder(
                                server.pid() + " TopServerChild 1 0", client.pid() + " TopClientChild 0 1");

                // On an overloaded machine the client may get no processor for a whole interval.
                Await.until(
                        "an interval with requests",
                        () -> rows(topAsJson(channel), "connections").stream()
                                .anyMatch(row -> row.get("requestsPerSecond").asDouble() > 0));
                Await.until(
                        "percentiles",
                        () -> rows(topAsJson(channel), "connections").stream()
                                .anyMatch(row -> row.get("p50Micros").asDouble(0) > 0
                                        && row.get("p99Micros").asDouble()
                                                >= row.get("p50Micros").asDouble()));

                // Its standard output is a pipe, so this prints once, too.
                assertThat(top("--channel", channel, "--sort", "Mean"))
                        .containsPattern(server.pid() + " +" + client.pid() + " +" + channel + " .* open ");

                server.kill();
                try (TopWatch watch = new TopWatch(new ProcFolder(Path.of("/proc")))) {
                    Await.until("the row to say that its server is gone, or to vanish", () -> isGone(watch, channel));
                }
            }
        }
    }

    private static boolean isGone(TopWatch watch, String channel) {
        return rowsOf(watch, channel).stream().allMatch(row -> row.state().equals("server gone"));
    }

    private static List<TopReport.ConnectionRow> rowsOf(TopWatch watch, String channel) {
        try {
            watch.begin();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        watch.sample();
        return watch.report(channel, TopOrder.RATE).connections();
    }

    /** Each end has memory of its own, and a row. */
    @Test
    void shouldTellThatAConnectionIsOverTcp() throws Exception {
        String channel = "/top/tcp" + ProcessHandle.current().pid();
        try (ChildJvm server = ChildJvm.start(TopServerChild.class, runtime, channel, "soft://127.0.0.1:0")) {
            String address = server.awaitLine("soft:");
            server.awaitLine("serving");
            try (ChildJvm client = ChildJvm.start(TopClientChild.class, runtime, channel, address)) {
                client.awaitLine("calling");
                assertThat(rows(topAsJson(channel), "connections"))
                        .extracting(row -> row.get("transport").asString() + " "
                                + row.get("clientPid").asString("-") + " "
                                + row.get("serverPid").asString("-"))
                        .containsExactlyInAnyOrder("TCP " + client.pid() + " -", "TCP - " + server.pid());
            }
        }
    }

    @Test
    void shouldShowAGrpcConnectionUntilItsServerDies() throws Exception {
        String channel = "/top/grpc" + ProcessHandle.current().pid();
        try (ChildJvm server = ChildJvm.start(TopGrpcChild.class, runtime, "serve", channel)) {
            server.awaitLine("serving");
            try (ChildJvm client = ChildJvm.start(TopGrpcChild.class, runtime, "call", "rackcall://" + channel)) {
                client.awaitLine("calling");
                JsonNode report = topAsJson(channel);
                assertThat(rows(report, "connections"))
                        .as(report.toString())
                        .singleElement()
                        .satisfies(row -> {
                            assertThat(row.get("channel").asString()).isEqualTo(channel);
                            assertThat(row.get("serverPid").asLong()).isEqualTo(server.pid());
                            assertThat(row.get("clientPid").asLong()).isEqualTo(client.pid());
                            assertThat(row.get("transport").asString()).isEqualTo("GRPC");
                            assertThat(row.get("state").asString()).isEqualTo("open");
                            assertThat(row.get("requests").asLong()).isGreaterThan(TopGrpcChild.HELD);
                            assertThat(row.get("inFlight").asDouble())
                                    .as("four calls have no answer, and calls in turn have it soon")
                                    .isBetween((double) TopGrpcChild.HELD, TopGrpcChild.HELD + 1.0);
                            assertThat(row.get("p50Micros").isNull()).isTrue();
                            assertThat(row.get("memoryBytes").asLong()).isEqualTo(17 * 4096);
                            assertThat(row.get("invalid").isNull()).isTrue();
                        });
                assertThat(rows(report, "processes"))
                        .extracting(row -> row.get("pid").asLong() + " "
                                + row.get("serves").asInt() + " "
                                + row.get("calls").asInt())
                        .containsExactlyInAnyOrder(server.pid() + " 1 0", client.pid() + " 0 1");
                // On an overloaded machine the client may get no processor for a whole interval.
                Await.until(
                        "an interval with requests and a mean",
                        () -> rows(topAsJson(channel), "connections").stream()
                                .anyMatch(row -> row.get("requestsPerSecond").asDouble() > 0
                                        && row.get("meanMicros").asDouble(0) > 0));
                assertThat(top("--once", "--channel", channel))
                        .containsPattern(server.pid() + " +" + client.pid() + " +" + channel + " .* - +open ");

                try (TopWatch watch = new TopWatch(new ProcFolder(Path.of("/proc")))) {
                    client.pause();
                    server.kill();
                    Await.until(
                            "the row to say that its server is gone",
                            () -> rowsOf(watch, channel).stream()
                                    .anyMatch(row -> row.state().equals("server gone")));
                    client.kill();
                    Await.until(
                            "the row to vanish", () -> rowsOf(watch, channel).isEmpty());
                }
            }
        }
    }

    /** Its server closes the memory as soon as it notices. */
    @Test
    void shouldShowAGrpcConnectionNoLongerThanItLives() throws Exception {
        String channel = "/top/grpcend" + ProcessHandle.current().pid();
        try (ChildJvm server = ChildJvm.start(TopGrpcChild.class, runtime, "serve", channel);
                TopWatch watch = new TopWatch(new ProcFolder(Path.of("/proc")))) {
            server.awaitLine("serving");
            try (ChildJvm client = ChildJvm.start(TopGrpcChild.class, runtime, "call", "rackcall://" + channel)) {
                client.awaitLine("calling");
                Await.until("the row", () -> rowsOf(watch, channel).size() == 1);
            }
            Await.until("the row to vanish", () -> rowsOf(watch, channel).isEmpty());
            assertThat(server.isAlive()).isTrue();
        }
    }

    /** Each end has memory of its own, and a row. */
    @Test
    void shouldShowBothEndsOfAGrpcConnectionOverTcp() throws Exception {
        String channel = "/top/grpctcp" + ProcessHandle.current().pid();
        try (ChildJvm server = ChildJvm.start(TopGrpcChild.class, runtime, "serve", channel, "soft://127.0.0.1:0")) {
            String address = server.awaitLine("soft:");
            server.awaitLine("serving");
            String target = "rackcall://" + channel + "?address=" + address;
            try (ChildJvm client = ChildJvm.start(TopGrpcChild.class, runtime, "call", target)) {
                client.awaitLine("calling");
                List<JsonNode> ends = rows(topAsJson(channel), "connections");
                assertThat(ends)
                        .extracting(row -> row.get("transport").asString() + " "
                                + row.get("clientPid").asString("-") + " "
                                + row.get("serverPid").asString("-"))
                        .containsExactlyInAnyOrder(
                                "GRPC_REMOTE " + client.pid() + " -", "GRPC_REMOTE - " + server.pid());
                assertThat(ends)
                        .allSatisfy(
                                row -> assertThat(row.get("requests").asLong()).isGreaterThan(1));
            }
        }
    }

    /** Both processes run on this host here, which a pool's memory does not tell. */
    @Test
    void shouldShowAConnectionInAPool() throws Exception {
        String channel = "/top/pool" + ProcessHandle.current().pid();
        try (TwoHosts hosts = TwoHosts.create();
                ChildJvm server = ChildJvm.start(TopServerChild.class, runtime, channel, hosts.path())) {
            server.awaitLine("serving");
            try (ChildJvm client = ChildJvm.start(TopClientChild.class, runtime, channel, hosts.path())) {
                client.awaitLine("calling");
                JsonNode report = topAsJson(channel);
                assertThat(rows(report, "connections"))
                        .as(report.toString())
                        .singleElement()
                        .satisfies(row -> {
                            assertThat(row.get("channel").asString()).isEqualTo(channel);
                            assertThat(row.get("transport").asString()).isEqualTo("POOL");
                            assertThat(row.get("serverPid").asLong()).isEqualTo(server.pid());
                            assertThat(row.get("clientPid").asLong()).isEqualTo(client.pid());
                            assertThat(row.get("state").asString()).isEqualTo("open");
                            assertThat(row.get("requests").asLong()).isPositive();
                            assertThat(row.get("requestArena").get("takenBytes").asLong())
                                    .isPositive();
                        });
            }
            try (TopWatch watch = new TopWatch(new ProcFolder(Path.of("/proc")))) {
                Await.until(
                        "the server to leave a client that is gone",
                        () -> rowsOf(watch, channel).isEmpty());
            }
        }
    }

    /** Both are process 1 of their own namespaces, as in two containers. */
    @Test
    void shouldTellProcessesOfTwoContainersApart() throws Exception {
        List<String> probe = new ArrayList<>(CONTAINER);
        probe.add("true");
        boolean mayContain = new ProcessBuilder(probe).start().waitFor() == 0;
        if (!mayContain) {
            System.err.println("SKIPPED two containers in TopCommandTest: " + probe + " fails on this host");
        }
        assumeThat(mayContain).isTrue();
        String channel = "/top/containers" + ProcessHandle.current().pid();
        try (ChildJvm server = contained(TopServerChild.class, channel)) {
            server.awaitLine("serving");
            try (ChildJvm client = contained(TopClientChild.class, channel)) {
                client.awaitLine("calling");
                JsonNode report = topAsJson(channel);
                JsonNode row = rows(report, "connections").getFirst();
                assertThat(row.get("transport").asString()).isEqualTo("HOST");
                assertThat(rows(report, "processes"))
                        .as(report.toString())
                        .extracting(each -> each.get("name").asString() + " "
                                + each.get("pid").asLong())
                        .containsExactlyInAnyOrder(
                                "TopServerChild " + row.get("serverPid").asLong(),
                                "TopClientChild " + row.get("clientPid").asLong());

                // The child itself is unshare.
                String stop = "kill -STOP " + row.get("clientPid").asLong();
                assertThat(new ProcessBuilder(stop.split(" ")).start().waitFor())
                        .isZero();
                try (TopWatch watch = new TopWatch(new ProcFolder(Path.of("/proc")))) {
                    Await.until("the connection", () -> !rowsOf(watch, channel).isEmpty());
                    server.kill();
                    Await.until("the row to say that its server is gone", () -> isGone(watch, channel));
                    // The client, which is stopped, still holds the memory after the next scans.
                    for (int scan = 0; scan < 10; scan++) {
                        assertThat(rowsOf(watch, channel))
                                .singleElement()
                                .satisfies(each -> assertThat(each.state()).isEqualTo("server gone"));
                    }
                }
            }
        }
    }

    private ChildJvm contained(Class<?> main, String channel) {
        return ChildJvm.of(main, channel).directory(runtime).behind(CONTAINER).start();
    }

    @Test
    void shouldShowMemoryThatMakesNoSenseAsInvalid() throws Exception {
        String channel = "/hostile" + ProcessHandle.current().pid();
        try (ChildJvm hostile = ChildJvm.start(HostilePages.class, runtime, SEED, channel)) {
            hostile.awaitLine("there");

            JsonNode report = topAsJson(channel);
            assertThat(rows(report, "connections"))
                    .as("seed %d: %s", SEED, report)
                    .hasSize(5)
                    .allSatisfy(row -> {
                        assertThat(row.get("state").asString()).isEqualTo("invalid");
                        assertThat(row.get("invalid").asString()).startsWith("it ");
                    });

            assertThat(top("--once", "--channel", channel))
                    .contains(channel + "/nonsense  invalid: it begins as no memory of Rackcall's does")
                    .contains(channel + "/disguised?[2J?  invalid: it has layout version ")
                    .contains(channel + "/pipes  invalid: it is no gRPC connection's of this release")
                    .contains(channel + "/counts  invalid: it counts 0 calls begun and 1 ended")
                    .doesNotContain("\u001b");
        }
    }

    @Test
    void shouldSayThatThereIsNothing() {
        assertThat(top("--once", "--channel", "/no/such/channel")).contains("0 processes, 0 connections, 0 requests/s");
    }
}
