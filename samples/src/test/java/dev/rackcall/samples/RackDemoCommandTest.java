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
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

/** The rack demo, with real processes. */
@Timeout(180)
class RackDemoCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void shouldGoOnOverTheNetworkWhileMemoryIsTakenAwayAndLeaveNothingBehind() throws IOException {
        List<String> before = workplaces();

        int exitCode = run("rack", "--count", "200", "--seconds", "1");

        assertThat(exitCode).as("%s%s", out, err).isZero();
        String text = out.toString();
        String taken = "The memory of rack 1 is taken away from host-b.";
        String back = "host-b has it back.";
        String first = text.substring(0, text.indexOf(taken));
        String second = text.substring(text.indexOf(taken), text.indexOf(back));
        String third = text.substring(text.indexOf(back));
        assertThat(first)
                .containsPattern("host-b +host-a +host memory")
                .containsPattern("host-c +host-a +(RDMA|software device over TCP)")
                .doesNotContainPattern("host-c +host-a +host memory");
        assertThat(second).containsPattern("host-b +host-a +(RDMA|software device over TCP)");
        assertThat(third).containsPattern("host-b +host-a +host memory").contains(" 0 failed. Nothing is left behind.");
        assertThat(workplaces()).isEqualTo(before);
        assertThat(ProcessHandle.current().children().filter(ProcessHandle::isAlive))
                .isEmpty();
    }

    @Test
    void shouldSayWhatIsWrongInASentence() {
        assertThat(run("rack", "--count", "0")).isEqualTo(2);
        assertThat(run("rack", "--directory", "etcd://nobody", "--count", "10")).isEqualTo(1);
        assertThat(err.toString())
                .contains("--count must be between 1 and 1000000, not 0")
                .contains("host-a: ")
                .contains("nobody here understands the directory address etcd://nobody");
    }

    private int run(String... arguments) {
        return new CommandLine(new DemoCommand())
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(arguments);
    }

    private static List<String> workplaces() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.map(Path::toString)
                    .filter(name -> name.contains("rackcall-demo-"))
                    .sorted()
                    .toList();
        }
    }
}
