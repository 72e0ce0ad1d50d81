package dev.rackcall.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildJvmTest {
    private static final Subject RAW = Subjects.named("raw-pingpong");

    @TempDir
    private Path parent;

    @Test
    void shouldEndBothProcessesWhenClosed() throws Exception {
        ProcessHandle server;
        ProcessHandle client;
        try (Workspace workspace = Workspace.create(parent);
                Pair pair = Pair.start(RAW, workspace.newPart(), Cores.UNPINNED)) {
            server = ProcessHandle.of(pair.server().orElseThrow().pid()).orElseThrow();
            client = ProcessHandle.of(pair.client().pid()).orElseThrow();
            assertThatThrownBy(() ->
                            pair.server().orElseThrow().ask(Order.timed(Order.Action.CLOSED, 1), Measurement.class))
                    .isInstanceOf(BenchFailure.class)
                    .hasMessageContaining("server side does not know the order CLOSED");
        }
        assertThat(server.isAlive()).isFalse();
        assertThat(client.isAlive()).isFalse();
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void shouldStartNeighboursWithTheFlagsOfTheMeasured() {
        List<String> command = ChildJvm.commandBeside(HonestNeighbour.class, "somewhere");
        assertThat(command)
                .containsAll(ChildJvm.measuringFlags())
                .endsWith(HonestNeighbour.class.getName(), "somewhere");
        assertThat(command).doesNotContain("-XX:+AlwaysPreTouch");
        assertThat(Subjects.named("neighbour-hostile").jvmFlags())
                .as("its server's warnings, hundreds of them, are no news")
                .anyMatch(flag -> flag.contains("simpleLogger") && flag.endsWith("=error"));
    }

    @Test
    void shouldSayThatTheOtherJvmEnded() throws Exception {
        try (Workspace workspace = Workspace.create(parent);
                ChildJvm child = ChildJvm.start(ChildRole.SERVER, RAW, workspace.newPart(), BenchChild.NO_CPU)) {
            ProcessHandle.of(child.pid()).orElseThrow().destroyForcibly();
            assertThatThrownBy(() -> child.await(Duration.ofSeconds(20), BenchChild.OK))
                    .isInstanceOf(BenchFailure.class)
                    .hasMessageContaining("raw-pingpong server: the JVM ended");
        }
    }

    @Test
    void shouldEndAndCleanUpWhenTheCoordinatorIsKilled() throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(
                List.of("-cp", System.getProperty("java.class.path"), Coordinator.class.getName(), parent.toString()));
        Process coordinator = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader output =
                new BufferedReader(new InputStreamReader(coordinator.getInputStream(), StandardCharsets.UTF_8))) {
            ProcessHandle child =
                    ProcessHandle.of(Long.parseLong(output.readLine())).orElseThrow();
            assertThat(parent.toFile().list()).hasSize(1);

            coordinator.destroyForcibly();
            assertThat(coordinator.waitFor(10, TimeUnit.SECONDS)).isTrue();
            child.onExit().get(10, TimeUnit.SECONDS);
            await(() -> parent.toFile().list().length == 0);
        } finally {
            coordinator.destroyForcibly();
        }
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long until = System.nanoTime() + Duration.ofSeconds(10).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("bound of the wait").isLessThan(until);
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    /** Starts a server side, prints its process id and waits to be killed. */
    static final class Coordinator {
        private Coordinator() {}

        public static void main(String[] args) throws IOException, InterruptedException {
            Workspace workspace = Workspace.create(Path.of(args[0]));
            ChildJvm child = ChildJvm.start(ChildRole.SERVER, RAW, workspace.newPart(), BenchChild.NO_CPU);
            System.out.println(child.pid());
            TimeUnit.SECONDS.sleep(60);
            child.close();
        }
    }
}
