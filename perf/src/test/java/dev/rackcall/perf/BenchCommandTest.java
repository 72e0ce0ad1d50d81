package dev.rackcall.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class BenchCommandTest {
    private static final String[] SHORT = {"--only", "grpc-inprocess", "--duration", "30ms", "--warm-up", "50ms"};

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int bench(String... arguments) {
        return new CommandLine(new BenchCommand())
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments);
    }

    private int shortBench(String... arguments) {
        String[] all = new String[arguments.length + SHORT.length];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        System.arraycopy(SHORT, 0, all, arguments.length, SHORT.length);
        return bench(all);
    }

    @Test
    void shouldPrintNothingButJsonOnStandardOutput() {
        assertThat(shortBench("rtt", "--format", "json", "--repeat", "2")).isZero();
        JsonNode json = JsonMapper.builder().build().readTree(out.toString());
        assertThat(json.get("results")).hasSize(1);
        JsonNode result = json.get("results").get(0);
        assertThat(result.get("name").asString()).isEqualTo("grpc-inprocess");
        assertThat(result.get("p50_ns").asLong()).isPositive();
        assertThat(result.get("repeats").asInt()).isEqualTo(2);
        assertThat(json.get("machine").get("command").asString()).contains("rtt --format json");
        assertThat(err.toString()).contains("rtt 2 of 2: grpc-inprocess");
    }

    @Test
    void shouldMeasureTheLockThatIsNamed() {
        assertThat(bench(
                        "alock",
                        "--only",
                        "alock-uncontended",
                        "--repeat",
                        "1",
                        "--duration",
                        "30ms",
                        "--warm-up",
                        "30ms",
                        "--format",
                        "json"))
                .isZero();
        JsonNode json = JsonMapper.builder().build().readTree(out.toString());
        assertThat(json.get("results")).hasSize(1);
        assertThat(json.get("results").get(0).get("name").asString()).isEqualTo("alock-uncontended");
    }

    @Test
    void shouldWriteAReportToAFileAtAFixedRate(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("report.html");
        assertThat(shortBench("rtt", "--rate", "5000", "--repeat", "1", "--format", "html", "--out", file.toString()))
                .isZero();
        assertThat(out.toString()).isEmpty();
        assertThat(Files.readString(file)).contains("<svg", "grpc-inprocess", "byte[] without protobuf");
    }

    @Test
    void shouldMakeTheFolderOfItsReport(@TempDir Path directory) {
        Path file = directory.resolve("reports").resolve("today").resolve("report.json");
        assertThat(shortBench("rtt", "--repeat", "1", "--format", "json", "--out", file.toString()))
                .isZero();
        assertThat(file).isNotEmptyFile();
    }

    @Test
    void shouldNotMeasureWhatItCannotWriteDown(@TempDir Path directory) throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        for (Path impossible : List.of(directory, file.resolve("report.json"))) {
            assertThat(shortBench("rtt", "--out", impossible.toString())).isEqualTo(2);
            assertThat(err.toString()).contains("--out " + impossible).doesNotContain("rtt 1 of 3");
        }
    }

    @Test
    void shouldRefuseWrongArgumentsWithTheValuesThatExist() {
        assertThat(bench("rtt", "--only", "carrier-pigeon")).isEqualTo(2);
        assertThat(err.toString()).contains("carrier-pigeon", "raw-pingpong", "aeron-ipc", "spin-N-N");
        assertThat(bench("speed")).isEqualTo(2);
        assertThat(err.toString()).contains("'speed' is none of rtt, throughput");
        assertThat(bench("--duration", "soon")).isEqualTo(2);
        assertThat(err.toString()).contains("'soon' is no time");
        assertThat(bench("--duration", "50")).isEqualTo(2);
        assertThat(err.toString()).contains("'50' has no unit; write 50s or 50ms");
        assertThat(bench("throughput", "--in-flight", "65")).isEqualTo(2);
        assertThat(bench("--repeat", "0")).isEqualTo(2);
        assertThat(bench("elastic", "--servers", "0")).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void shouldSayWhichTargetMeasuresWhatTheOneAskedForDoesNot() {
        assertThat(bench("rtt", "--only", "trusted-1")).isEqualTo(2);
        assertThat(err.toString()).contains("rtt has no result 'trusted-1'; isolation has");
        assertThat(bench("--only", "raw-pingpong,alock-95-20")).isEqualTo(2);
        assertThat(err.toString()).contains("rtt, throughput have no result 'alock-95-20'; alock has");
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void shouldHaveEveryResultOfTheIsolationTargetOrSayWhatThisHostLacks() {
        List<String> names = new ArrayList<>(List.of("sandbox-bounds", "sandbox-keys-cached", "sandbox-keys-uncached"));
        for (int pages : List.of(1, 16, 256, 1024)) {
            for (String each : List.of("trusted-", "snapshot-", "sealed-", "auto-", "memcpy-", "release-batched-")) {
                names.add(each + pages);
            }
        }
        BenchSelection selection = new BenchSelection(List.of(BenchTarget.ISOLATION), names);
        List<String> measured = selection.subjects().stream().map(Subject::name).toList();
        assertThat(names)
                .allSatisfy(name -> assertThat(measured.contains(name)
                                || selection.skipped().toString().contains(name))
                        .as(name)
                        .isTrue());
    }

    @Test
    void shouldFailIfThereWasNothingToMeasure() {
        Optional<String> missing =
                Subjects.named("sandbox-keys-cached").missing().get();
        assumeThat(missing).as("what this host lacks for protection keys").isPresent();
        assertThat(bench("isolation", "--only", "sandbox-keys-cached")).isEqualTo(1);
        assertThat(err.toString()).contains("SKIPPED sandbox-keys-cached: " + missing.get());
        assertThat(out.toString()).contains("SKIPPED: sandbox-keys-cached: ");
    }
}
