package dev.rackcall.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.perf.calls.Graph;
import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.Pipeline;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.SubjectPair;
import dev.rackcall.perf.harness.ThroughputLoop;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.rpc.RpcChannel;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.stream.Stream;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every subject makes some validated calls; both sides run here unless the subject needs JVM flags of its own. */
class SubjectsTest {
    private static final int CALLS = 20;

    @TempDir
    private Path directory;

    static Stream<String> here() {
        return Subjects.all().stream()
                // Of those a test of their own starts fewer.
                .filter(subject -> !EnumSet.of(
                                BenchTarget.ELASTIC,
                                BenchTarget.CROWD,
                                BenchTarget.YCSB,
                                BenchTarget.RARE,
                                BenchTarget.SOCIAL)
                        .contains(subject.target()))
                .filter(subject -> !subject.has(Subject.Trait.NEVER_ONE_PROCESS))
                .filter(subject -> subject.jvmFlags().stream()
                        .allMatch(flag ->
                                flag.startsWith("-D") || flag.startsWith("-Xm") || flag.startsWith("--sun-misc")))
                .filter(subject -> subject.missing().get().isEmpty())
                .map(Subject::name);
    }

    @ParameterizedTest
    @MethodSource("here")
    void shouldCallAndValidate(String name) throws Exception {
        Subject subject = Subjects.named(name);
        try (ServerSide server = subject.sides().serve(directory);
                ClientSide client = subject.sides().connect(directory)) {
            for (int i = 1; i <= CALLS; i++) {
                client.call(i);
            }
            if (subject.has(Subject.Trait.PIPELINES)) {
                assertThat(pipelined(client.pipeline(8))).isPositive();
            }
            assertThat(subject.settings()).isNotBlank();
            assertThat(server).isNotNull();
        }
    }

    /** A moment's calls; on a machine that is busy with something else a moment may be too short for one. */
    private static long pipelined(Pipeline pipeline) throws Exception {
        long count = 0;
        long sequence = CALLS + 1;
        for (long nanos = 20_000_000; count == 0 && nanos < 20_000_000_000L; nanos *= 4) {
            count = new ThroughputLoop(System::nanoTime)
                    .run(pipeline, 8, 1, sequence, nanos)
                    .count();
            sequence += 1_000_000;
        }
        return count;
    }

    @Test
    void shouldCallThroughAeronInProcessesOfItsOwn() throws Exception {
        Subject aeron = Subjects.named("aeron-ipc");
        try (Workspace workspace = Workspace.create(directory);
                SubjectPair pair = SubjectPair.start(aeron, workspace.newPart(), Cores.UNPINNED)) {
            Measurement calls = pair.client().ask(client -> client.slice(20_000_000));
            assertThat(calls.count()).isPositive();
            long count = 0;
            // On a busy machine the server may get no processor in 20 ms.
            for (long nanos = 20_000_000; count == 0 && nanos < 20_000_000_000L; nanos *= 4) {
                long time = nanos;
                count = pair.client()
                        .ask(time, client -> client.throughput(time, 16))
                        .count();
            }
            assertThat(count).isPositive();
        }
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void shouldCallUnderSealsThatAnotherProcessHolds() throws Exception {
        boolean isPossible = Subjects.named("enforced-write-1").missing().get().isEmpty();
        if (!isPossible) {
            System.err.println(
                    "SKIPPED SubjectsTest.shouldCallUnderSealsThatAnotherProcessHolds: this host has no enforced seals");
        }
        assumeThat(isPossible).isTrue();
        try (Workspace workspace = Workspace.create(directory);
                SubjectPair pair =
                        SubjectPair.start(Subjects.named("enforced-write-1"), workspace.newPart(), Cores.UNPINNED)) {
            Measurement calls = pair.client().ask(client -> client.slice(20_000_000));
            assertThat(calls.count()).isPositive();
        }
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void shouldCompareGraphsOfTheSameSize() throws Exception {
        int bytes = 1 << 20;
        Subject subject = Subjects.named("rackcall-ref-1048576");
        try (ServerSide server = subject.sides().serve(directory);
                RpcChannel channel = RpcChannel.builder("/bench/calls")
                        .runtimeFolder(directory.resolve("rackcall"))
                        .open()) {
            assertThat(server).isNotNull();
            Graph graph = Graph.build(channel, bytes);
            assertThat(Graph.nodes(bytes)).isCloseTo(graph.size(), Percentage.withPercentage(1));
        }
    }

    @Test
    void shouldSayInShortWhatThereIsWhenANameIsUnknown() {
        assertThatThrownBy(() -> Subjects.only(List.of("aeron-ipc", "carrier-pigeon")))
                .hasMessageContaining("carrier-pigeon")
                .hasMessageContaining("raw-pingpong, rackcall-noop, rackcall-value-N, ")
                .hasMessageContaining("grpc-tcp")
                .hasMessageContaining("spin-N-N")
                .satisfies(thrown -> assertThat(thrown.getMessage()).hasSizeLessThan(1800));
        assertThatThrownBy(() -> Subjects.only(List.of("racckall-noop")))
                .hasMessageContaining("did you mean rackcall-noop?");
        assertThatThrownBy(() -> Subjects.only(List.of("grpc")))
                .hasMessageContaining("did you mean grpc-inprocess, grpc-uds, ");
        assertThatThrownBy(() -> Subjects.only(List.of("snapshot")))
                .hasMessageContaining("did you mean snapshot-1, snapshot-16, ")
                .hasMessageEndingWith(" more?");
        assertThat(Subjects.only(List.of("grpc-tcp", "raw-pingpong")))
                .extracting(Subject::name)
                .containsExactly("raw-pingpong", "grpc-tcp");
    }

    @Test
    void shouldLeaveOutWhatIsMeasuredOnRequestUnlessItIsNamed() {
        String name = "crowd-uds-1-idle64";
        assertThat(new BenchSelection(List.of(BenchTarget.CROWD), List.of()).subjects())
                .extracting(Subject::name)
                .contains("crowd-uds-1")
                .doesNotContain(name);
        assertThat(new BenchSelection(List.of(BenchTarget.CROWD), List.of(name)).subjects())
                .extracting(Subject::name)
                .containsExactly(name);
    }

    @Test
    void shouldLeaveWarningsOfAnAttackedServerOutOfTheLog() {
        assertThat(Subjects.named("neighbour-hostile").jvmFlags())
                .anyMatch(flag -> flag.contains("simpleLogger") && flag.endsWith("=error"));
    }
}
