package dev.rackcall.perf.ycsb;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Vector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/** Each peer under each of YCSB's workloads, with few records. */
class YcsbTargetTest {
    private static final int RECORDS = 200;

    @TempDir
    private Path directory;

    private boolean isMissing(YcsbPeer peer) {
        peer.missing().ifPresent(why -> System.err.println("SKIPPED YcsbTargetTest: " + why));
        return peer.missing().isPresent();
    }

    @ParameterizedTest
    @EnumSource
    void shouldRunAllWorkloads(YcsbPeer peer) throws Exception {
        if (isMissing(peer)) {
            return;
        }
        try (ServerSide server = peer.serve(directory);
                YcsbClient client = new YcsbClient(peer.open(directory))) {
            assertThat(server).isNotNull();
            client.load(RECORDS, 0, 1, 2);
            for (YcsbWorkload workload : YcsbWorkload.values()) {
                if (peer.runs(workload)) {
                    long start = System.nanoTime();
                    Measurement measurement = client.run(workload, 2, start, start + 50_000_000, Long.MAX_VALUE);
                    assertThat(measurement.count()).isGreaterThanOrEqualTo(2);
                    assertThat(measurement.p50Ns()).isPositive();
                    assertThat(client.run(workload, 2, start, Long.MAX_VALUE, 5).count())
                            .isEqualTo(10);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldStoreUpdateAndScan(YcsbPeer peer) throws Exception {
        if (isMissing(peer)) {
            return;
        }
        try (ServerSide server = peer.serve(directory);
                YcsbPeer.Connection connection = peer.open(directory)) {
            assertThat(server).isNotNull();
            RecordService records = connection.service();
            for (String key : List.of("b", "c", "a")) {
                records.insert(key, List.of(new byte[] {1}, key.getBytes(UTF_8)));
            }
            assertThat(records.update("b", Map.of(0, new byte[] {2, 3}))).isTrue();
            assertThat(records.read("b").orElseThrow()).containsExactly(new byte[] {2, 3}, new byte[] {'b'});
            assertThat(records.read("d")).isEmpty();
            if (peer.runs(YcsbWorkload.E)) {
                assertThat(records.scan("b", 2))
                        .extracting(RecordService.Row::key)
                        .containsExactly("b", "c");
                assertThat(records.scan("", 2))
                        .satisfiesExactly(
                                row -> assertThat(row.values()).first().isEqualTo(new byte[] {1}),
                                row -> assertThat(row.values()).first().isEqualTo(new byte[] {2, 3}));
            }
        }
    }

    @Test
    @SuppressWarnings("JdkObsolete") // a scan wants a Vector
    void shouldStopAtAWrongRecord() {
        RecordStore table = new RecordStore();
        RecordDb binding = new RecordDb(table, 2);
        binding.insert("t", "a", values());
        binding.insert("t", "b", values());
        Map<String, ByteIterator> result = new HashMap<>();
        binding.read("t", "a", null, result);
        assertThat(result).containsOnlyKeys("field0", "field1");

        List<byte[]> right = table.read("a").orElseThrow();
        byte[] damaged = right.get(0).clone();
        damaged[3]++;
        List<List<byte[]>> wrong = List.of(
                table.read("b").orElseThrow(),
                List.of(damaged, right.get(1)),
                List.of(right.get(1), right.get(0)),
                List.of(Arrays.copyOf(right.get(0), 7), right.get(1)),
                List.of(right.get(0)));
        for (List<byte[]> row : wrong) {
            table.insert("a", row);
            assertThatThrownBy(() -> binding.read("t", "a", null, new HashMap<>()))
                    .isInstanceOf(BenchFailure.class);
            assertThatThrownBy(() -> binding.scan("t", "a", 2, null, new Vector<>()))
                    .isInstanceOf(BenchFailure.class);
        }
        assertThatThrownBy(() -> binding.read("t", "c", null, new HashMap<>())).isInstanceOf(BenchFailure.class);
        assertThatThrownBy(() -> binding.update("t", "c", values())).isInstanceOf(BenchFailure.class);
    }

    private static Map<String, ByteIterator> values() {
        return new HashMap<>(Map.of(
                "field0", new ByteArrayByteIterator(new byte[20]), "field1", new ByteArrayByteIterator(new byte[20])));
    }

    @Test
    void shouldCompareRackcallsWorstRun() throws Exception {
        List<String> names = List.of("ycsb-rackcall-a-1x1", "ycsb-grpc-a-1x1", "ycsb-rackcall-e-4x4");
        BenchPlan plan = new BenchPlan(
                YcsbTarget.subjects().stream()
                        .filter(subject -> names.contains(subject.name()))
                        .toList(),
                List.of(),
                50_000_000,
                20_000_000,
                1,
                OptionalDouble.empty(),
                List.of(),
                Cores.UNPINNED,
                new PrintWriter(Writer.nullWriter()));
        Rounds rounds = new Rounds(plan);
        try (Workspace workspace = Workspace.create(directory)) {
            List<Result> results = new YcsbTarget(plan, workspace, rounds, RECORDS).measure();
            assertThat(rounds.failures()).isEmpty();
            assertThat(results).extracting(Result::name).containsExactlyElementsOf(names);
            assertThat(results.getFirst().figures()).containsKey("grpc_ratio").doesNotContainKey("redis_ratio");
            assertThat(results.getLast().figures()).containsEntry("in_flight", 16);
        }
        assertThat(directory).isEmptyDirectory();

        Result slow = Result.of("ycsb-rackcall-b-1x4", BenchTarget.YCSB, 4, 0, new Measurement(1, 1, 1, 1, 1, 1, 900))
                .with("worst_ops_per_s", 600.0);
        Result redis = Result.of("ycsb-redis-b-1x4", BenchTarget.YCSB, 4, 0, new Measurement(1, 1, 1, 1, 1, 1, 300));
        assertThat(YcsbTarget.withRatios(List.of(slow, redis)).getFirst().figures())
                .containsEntry("redis_ratio", 2.0);
    }
}
