package dev.rackcall.perf.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.perf.peers.RawPingPong;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MeasuredProcessTest {
    private static final Subject RAW = RawPingPong.subject();

    @TempDir
    private Path parent;

    @Test
    void shouldEndBothProcessesWhenClosed() throws Exception {
        ProcessHandle server;
        ProcessHandle client;
        try (Workspace workspace = Workspace.create(parent);
                SubjectPair pair = SubjectPair.start(RAW, workspace.newPart(), Cores.UNPINNED)) {
            server = ProcessHandle.of(pair.server().orElseThrow().pid()).orElseThrow();
            client = ProcessHandle.of(pair.client().pid()).orElseThrow();
            assertThatThrownBy(() -> pair.server().orElseThrow().ask(side -> {
                        throw new IllegalStateException("no such luck");
                    }))
                    .isInstanceOf(BenchFailure.class)
                    .hasMessageContaining("raw-pingpong server: failed java.lang.IllegalStateException: no such luck");
        }
        assertThat(server.isAlive()).isFalse();
        assertThat(client.isAlive()).isFalse();
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void shouldStartNeighboursWithTheFlagsOfTheMeasured() {
        List<String> command =
                MeasuredProcess.beside(Coordinator.class, "somewhere").command();
        assertThat(command)
                .containsAll(MeasuredProcess.measuringFlags())
                .endsWith(Coordinator.class.getName(), "somewhere");
        assertThat(command).doesNotContain("-XX:+AlwaysPreTouch");
    }

    @Test
    void shouldSayThatTheOtherJvmEnded() throws Exception {
        try (Workspace workspace = Workspace.create(parent);
                MeasuredProcess<ServerSide> child = MeasuredProcess.server(RAW, workspace.newPart(), Cores.NO_CPU)) {
            ProcessHandle.of(child.pid()).orElseThrow().destroyForcibly();
            assertThatThrownBy(() -> child.await(Await.BOUND, Wire.OK))
                    .isInstanceOf(BenchFailure.class)
                    .hasMessageContaining("raw-pingpong server: the JVM ended");
        }
    }

    @Test
    void shouldEndAndCleanUpWhenTheCoordinatorIsKilled() throws Exception {
        try (ChildJvm coordinator = ChildJvm.of(Coordinator.class, parent).start()) {
            ProcessHandle child =
                    ProcessHandle.of(Long.parseLong(coordinator.awaitLine())).orElseThrow();
            assertThat(parent.toFile().list()).hasSize(1);

            coordinator.kill();
            child.onExit().get(Await.BOUND.toSeconds(), TimeUnit.SECONDS);
            Await.until("the workspace is removed", () -> parent.toFile().list().length == 0);
        }
    }

    @Test
    void shouldGiveEachSideItsOwnProcessorWhereThereAreTwo() {
        assertThat(Cores.choose(new int[] {3})).isEqualTo(Cores.UNPINNED);
        assertThat(Cores.choose(new int[] {5, 2})).isEqualTo(new Cores(2, 5));
        assertThat(Cores.choose(new int[] {0, 1, 2, 3})).isEqualTo(new Cores(2, 3));
    }

    @Test
    void shouldNoticeWrongReplies() {
        byte[] reply = Payload.of(64);
        Payload.mark(reply, 5);
        Payload.check("x", reply, 64, 5);
        assertThatThrownBy(() -> Payload.check("x", reply, 64, 6))
                .isInstanceOf(WrongReplyException.class)
                .hasMessageContaining("x: reply shows 5 where 6 was sent");
        assertThatThrownBy(() -> Payload.check("x", reply, 65, 5)).hasMessageContaining("length");
        reply[60]++;
        assertThatThrownBy(() -> Payload.check("x", reply, 64, 5)).hasMessageContaining("tail");
    }

    /** Starts a server side, prints its process id and waits to be killed. */
    static final class Coordinator {
        private Coordinator() {}

        public static void main(String[] args) throws IOException, InterruptedException {
            Workspace workspace = Workspace.create(Path.of(args[0]));
            MeasuredProcess<ServerSide> child = MeasuredProcess.server(RAW, workspace.newPart(), Cores.NO_CPU);
            System.out.println(child.pid());
            TimeUnit.SECONDS.sleep(60);
            child.close();
        }
    }
}
