package dev.rackcall.perf.crowd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.Result;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Short crowds of one and two clients, in processes of their own. */
class CrowdTargetTest {
    @TempDir
    private Path directory;

    private List<Result> measure(int repeat, List<String> names) throws Exception {
        List<Subject> subjects = CrowdTarget.subjects().stream()
                .filter(subject -> names.contains(subject.name()))
                .toList();
        PrintWriter progress = new PrintWriter(Writer.nullWriter());
        BenchPlan plan = new BenchPlan(
                subjects,
                List.of(),
                100_000_000,
                20_000_000,
                repeat,
                OptionalDouble.empty(),
                List.of(),
                Cores.UNPINNED,
                progress);
        Rounds rounds = new Rounds(plan);
        try (Workspace workspace = Workspace.create(directory)) {
            List<Result> results = new CrowdTarget(plan, workspace, rounds).measure();
            assertThat(rounds.failures()).isEmpty();
            return results;
        } finally {
            assertThat(directory).isEmptyDirectory();
        }
    }

    @Test
    void shouldSetTheSocketBesideRackcallInAllSurroundings() {
        List<String> names = CrowdTarget.subjects().stream().map(Subject::name).toList();
        for (int clients : List.of(1, 2, 3, 4, 8, 16, 32)) {
            assertThat(names).contains("crowd-rackcall-" + clients, "crowd-rackcall-" + clients + "-burn2");
        }
        for (String suffix : List.of("-nice", "-batch", "-idle64")) {
            assertThat(names).contains("crowd-rackcall-1" + suffix, "crowd-rackcall-4" + suffix);
        }
        assertThat(names)
                .filteredOn(name -> name.startsWith("crowd-rackcall-"))
                .allSatisfy(name -> assertThat(names).contains(name.replace("rackcall", "uds")));
    }

    @Test
    void shouldMeasureSomeSurroundingsOnlyOnRequest() {
        assertThat(CrowdTarget.subjects().stream()
                        .filter(subject -> subject.has(Subject.Trait.ON_REQUEST))
                        .map(Subject::name))
                .hasSize(12)
                .allMatch(name -> name.matches("crowd-(rackcall|uds)-[14]-(nice|batch|idle64)"));
    }

    @Test
    void shouldMeasureNicerAndBatchProcessesAndIdleConnections() throws Exception {
        List<String> names = CrowdTarget.subjects().stream()
                .filter(subject -> subject.name().matches("crowd-(uds-1-.*|rackcall-1-idle64)"))
                .filter(subject -> subject.has(Subject.Trait.ON_REQUEST))
                .filter(subject -> {
                    subject.missing().get().ifPresent(why -> System.err.println("SKIPPED CrowdTargetTest: " + why));
                    return subject.missing().get().isEmpty();
                })
                .map(Subject::name)
                .toList();
        List<Result> results = measure(1, names);
        assertThat(results).extracting(Result::name).containsExactlyElementsOf(names);
        assertThat(results).allSatisfy(result -> assertThat(result.p50Ns()).isPositive());
        assertThat(results)
                .filteredOn(result -> result.name().equals("crowd-rackcall-1-idle64"))
                .allSatisfy(result ->
                        assertThat(result.figures()).containsKeys("uds_ratio", "uds_p99_ratio", "uds_cpu_ratio"));
    }

    @Test
    void shouldMeasureEachPeerAndTheSocketBesideBurners() throws Exception {
        List<Result> results = measure(
                1,
                List.of("crowd-rackcall-2", "crowd-uds-2", "crowd-uds-1-burn2", "crowd-grpc-uds-1", "crowd-aeron-2"));
        assertThat(results)
                .extracting(Result::name)
                .containsExactly(
                        "crowd-grpc-uds-1", "crowd-rackcall-2", "crowd-uds-2", "crowd-aeron-2", "crowd-uds-1-burn2");
        assertThat(results).allSatisfy(result -> {
            assertThat(result.p50Ns()).isPositive();
            assertThat(result.figure("worst_ops_per_s").orElseThrow()).isLessThanOrEqualTo(result.opsPerS());
            assertThat(result.figure("slowest_to_fastest").orElseThrow()).isBetween(0.0, 1.0);
        });
        assertThat(results.get(1).figures()).containsKeys("uds_ratio", "uds_p99_ratio", "uds_cpu_ratio", "aeron_ratio");
    }

    @Test
    void shouldMeasureUnderTheLimitsThatThisHostHas() throws Exception {
        List<String> names = new ArrayList<>();
        for (CrowdCase each : CrowdCase.ALL) {
            Optional<String> missing = each.subject().missing().get();
            if (each.clients() == 1 && each.peer() == CrowdPeer.UDS && missing.isPresent()) {
                System.err.println("SKIPPED CrowdTargetTest: " + each.subject().name() + ": " + missing.get());
            } else if (each.clients() == 1
                    && each.peer() == CrowdPeer.UDS
                    && each.surroundings().isLimited()) {
                names.add(each.subject().name());
            }
        }
        List<Result> results = measure(2, names);
        assertThat(results).extracting(Result::name).containsExactlyElementsOf(names);
        assertThat(results).allSatisfy(result -> assertThat(result.figures()).containsEntry("repeats", 2));
    }
}
