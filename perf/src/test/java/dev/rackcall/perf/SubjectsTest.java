package dev.rackcall.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.rpc.RpcChannel;
import java.nio.file.Path;
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
                .filter(subject -> !subject.isOf(Target.ELASTIC))
                .filter(Subject::callsWithinOneProcess)
                .filter(subject ->
                        subject.jvmFlags().stream().allMatch(flag -> flag.startsWith("-D") || flag.startsWith("-Xm")))
                .filter(subject -> subject.missing().isEmpty())
                .map(Subject::name);
    }

    @ParameterizedTest
    @MethodSource("here")
    void shouldCallAndValidate(String name) throws Exception {
        Subject subject = Subjects.named(name);
        try (ServerSide server = subject.serve(directory);
                ClientSide client = subject.connect(directory)) {
            for (int i = 1; i <= CALLS; i++) {
                client.call(i);
            }
            if (subject.pipelines()) {
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
                Pair pair = Pair.start(aeron, workspace.newPart(), Cores.UNPINNED)) {
            Measurement calls = pair.client().ask(Order.timed(Order.Action.CLOSED, 20_000_000), Measurement.class);
            assertThat(calls.count()).isPositive();
            long count = 0;
            // On a busy machine the server may get no processor in 20 ms.
            for (long nanos = 20_000_000; count == 0 && nanos < 20_000_000_000L; nanos *= 4) {
                count = pair.client()
                        .ask(Order.inFlight(Order.Action.THROUGHPUT, nanos, 16), Measurement.class)
                        .count();
            }
            assertThat(count).isPositive();
        }
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void shouldCallUnderSealsThatAnotherProcessHolds() throws Exception {
        if (!HolderProcess.isPossible()) {
            System.err.println(
                    "SKIPPED SubjectsTest.shouldCallUnderSealsThatAnotherProcessHolds: this host has no enforced seals");
        }
        assumeThat(HolderProcess.isPossible()).isTrue();
        try (Workspace workspace = Workspace.create(directory);
                Pair pair = Pair.start(Subjects.named("enforced-write-1"), workspace.newPart(), Cores.UNPINNED)) {
            Measurement calls = pair.client().ask(Order.timed(Order.Action.CLOSED, 20_000_000), Measurement.class);
            assertThat(calls.count()).isPositive();
        }
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void shouldCompareGraphsOfTheSameSize() throws Exception {
        int bytes = 1 << 20;
        Subject subject = Subjects.named("rackcall-ref-1048576");
        try (ServerSide server = subject.serve(directory);
                RpcChannel channel = RpcChannel.builder("/bench/calls")
                        .directory(directory.resolve("rackcall"))
                        .open()) {
            assertThat(server).isNotNull();
            Graph graph = Graph.build(channel, bytes);
            assertThat(Graph.nodes(bytes)).isCloseTo(graph.size(), Percentage.withPercentage(1));
        }
        HeapGraph heap = HeapGraph.of(1000);
        heap.sequence(77);
        HeapGraph decoded = HeapGraph.decode(heap.encode(1000));
        assertThat(decoded.size()).isEqualTo(1000);
        assertThat(decoded.sequence()).isEqualTo(77);
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

    @Test
    void shouldSayInShortWhatThereIsWhenANameIsUnknown() {
        assertThatThrownBy(() -> Subjects.only(List.of("aeron-ipc", "carrier-pigeon")))
                .hasMessageContaining("carrier-pigeon")
                .hasMessageContaining("raw-pingpong, rackcall-noop, rackcall-value-N, ")
                .hasMessageContaining("grpc-tcp")
                .hasMessageContaining("spin-N-N")
                .satisfies(thrown -> assertThat(thrown.getMessage()).hasSizeLessThan(1450));
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
    void shouldGiveEachSideItsOwnProcessorWhereThereAreTwo() {
        assertThat(Cores.choose(new int[] {3})).isEqualTo(Cores.UNPINNED);
        assertThat(Cores.choose(new int[] {5, 2})).isEqualTo(new Cores(2, 5));
        assertThat(Cores.choose(new int[] {0, 1, 2, 3})).isEqualTo(new Cores(2, 3));
    }
}
