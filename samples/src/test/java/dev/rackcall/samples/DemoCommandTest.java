package dev.rackcall.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The whole demo, with real processes. */
class DemoCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @TempDir
    private Path folder;

    @Test
    void shouldRunWithEveryTransportAndLeaveNothingBehind() throws IOException {
        List<String> before = workplaces();
        int exitCode = run("--count", "500", "--clients", "2", "--searches", "201", "--batch", "7", "--format", "json");

        assertThat(exitCode).as(err.toString()).isZero();
        JsonNode report = JsonMapper.shared().readTree(out.toString());
        for (String side : List.of("pointer", "serialised", "grpc")) {
            assertThat(report.at("/" + side + "/documents").asInt()).isEqualTo(500);
            assertThat(report.at("/" + side + "/put/calls").asInt()).isEqualTo(72);
            assertThat(report.at("/" + side + "/get/calls").asInt()).isEqualTo(201);
            assertThat(report.at("/" + side + "/search/calls").asInt()).isEqualTo(201);
        }
        assertThat(report.at("/pointer/matches").asLong())
                .isPositive()
                .isEqualTo(report.at("/serialised/matches").asLong())
                .isEqualTo(report.at("/grpc/matches").asLong());
        assertThat(report.at("/pointer/put_copied_bytes").asLong()).isEqualTo(72 * 12);
        assertThat(report.at("/pointer/put_pointed_bytes").asLong()).isGreaterThan(500 * 1000);
        assertThat(report.at("/serialised/put_copied_bytes").asLong()).isGreaterThan(500 * 300);
        assertThat(report.at("/grpc/put_copied_bytes").asLong())
                .isGreaterThan(500 * 300)
                .isLessThan(500 * 1000);
        assertThat(report.at("/pointer/get_copied_bytes").asLong()).isEqualTo(201 * 16);
        assertThat(report.at("/grpc/get_copied_bytes").asLong()).isGreaterThan(201 * 300);
        assertThat(report.at("/speed_up_to_grpc/build").asDouble()).isPositive();
        assertThat(report.at("/speed_up_to_grpc/get").asDouble()).isPositive();
        assertThat(report.at("/left_behind")).isEmpty();
        assertThat(workplaces()).isEqualTo(before);
        assertThat(ProcessHandle.current().children().filter(ProcessHandle::isAlive))
                .isEmpty();
    }

    @Test
    void shouldTakeDocumentsFromAFileAndNameItsBadLines() throws IOException {
        Path file = Files.writeString(
                folder.resolve("documents.json"), "{\"name\":\"größe\",\"n\":[1,2]}\n{oops\n{\"name\":\"x\"}\n\n7\n");
        int exitCode = run("--docs", file.toString(), "--clients", "2", "--searches", "20");

        assertThat(exitCode).as(err.toString()).isZero();
        assertThat(out.toString())
                .contains("2 documents (" + file + ") from 2 client processes")
                .contains("2 lines hold no document")
                .contains(file + ":2: Unexpected character")
                .contains(file + ":5: the line holds a JSON number, not an object")
                .contains("by pointer", "as JSON", "by gRPC")
                .contains("Nothing is left behind");
    }

    @Test
    void shouldSayWhatIsWrongInASentence() throws IOException {
        Path empty = Files.writeString(folder.resolve("empty.json"), "\n[1]\n");

        assertThat(run("--clients", "0")).isEqualTo(2);
        assertThat(run("--docs", folder.resolve("absent.json").toString())).isEqualTo(2);
        assertThat(run("--docs", empty.toString(), "--clients", "1")).isEqualTo(1);
        assertThat(err.toString())
                .contains("--clients must be between 1 and 64, not 0")
                .contains("absent.json is not there; name a file with one JSON object a line")
                .contains("empty.json holds no document; line 2: the line holds a JSON array, not an object");
    }

    private int run(String... arguments) {
        return new CommandLine(new DemoCommand())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
    }

    private static List<String> workplaces() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.map(Path::toString)
                    .filter(name -> name.contains(
                            "rackcall-demo-" + ProcessHandle.current().pid() + "-"))
                    .sorted()
                    .toList();
        }
    }
}
