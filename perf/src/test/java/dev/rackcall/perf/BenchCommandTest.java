package dev.rackcall.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;

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
        JsonNode json = Json.PRETTY.readTree(out.toString());
        assertThat(json.get("results")).hasSize(1);
        JsonNode result = json.get("results").get(0);
        assertThat(result.get("name").asString()).isEqualTo("grpc-inprocess");
        assertThat(result.get("p50_ns").asLong()).isPositive();
        assertThat(result.get("repeats").asInt()).isEqualTo(2);
        assertThat(json.get("machine").get("command").asString()).contains("rtt --format json");
        assertThat(err.toString()).contains("rtt 2/2: grpc-inprocess");
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
        JsonNode json = Json.PRETTY.readTree(out.toString());
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
            assertThat(err.toString()).contains("--out " + impossible).doesNotContain("rtt 1/3");
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
        assertThat(bench("throughput", "--in-flight", "65")).isEqualTo(2);
        assertThat(bench("--repeat", "0")).isEqualTo(2);
        assertThat(out.toString()).isEmpty();
    }
}
