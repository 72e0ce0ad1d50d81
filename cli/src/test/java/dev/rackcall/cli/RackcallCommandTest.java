package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class RackcallCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void shouldListEveryCommandInTheHelp() {
        assertThat(run("help")).isZero();
        assertThat(out.toString())
                .contains(
                        "demo",
                        "report",
                        "install",
                        "test",
                        "stress",
                        "soak",
                        "rack-test",
                        "top",
                        "view",
                        "doctor",
                        "clean",
                        "hold-seals",
                        "version")
                .doesNotContain("train");
    }

    @Test
    void shouldShowTheHelpOfANestedCommand() {
        assertThat(run("help", "demo", "rack")).isZero();
        assertThat(out.toString()).startsWith("Usage: rackcall demo rack ").contains("--seconds");
        assertThat(run("help", "demo", "house")).isEqualTo(2);
        assertThat(err.toString()).contains("rackcall: there is no command 'demo house'");
    }

    @Test
    void shouldRefuseACommandThatDoesNotExist() {
        assertThat(run("demolish")).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("rackcall: there is no command 'demolish'")
                .contains("See rackcall --help");
    }

    @Test
    void shouldNotServeSealsWhereSomethingIs(@TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertThat(run("hold-seals", file.toString())).isEqualTo(2);
        assertThat(err.toString()).startsWith("rackcall: cannot serve at " + file + ": a file is there");
        assertThat(run("hold-seals", folder.toString())).isEqualTo(2);
        assertThat(err.toString()).contains(folder + ": that is a folder");
        assertThat(run("hold-seals", folder.resolve("none/socket").toString())).isEqualTo(2);
        assertThat(err.toString()).contains("there is no folder " + folder.resolve("none"));
        assertThat(file).exists();
    }

    @Test
    void shouldDistinguishWrongUseFromFailure(@TempDir Path folder) {
        assertThat(run("explain", "no channel")).isEqualTo(2);
        assertThat(run("explain", "/shop", "--directory", "gopher://somewhere")).isEqualTo(2);
        assertThat(run("explain", "/nobody/here", "--dir", folder.toString())).isEqualTo(1);
        assertThat(err.toString().lines()).allMatch(line -> line.startsWith("rackcall: ") || line.startsWith("See "));
    }

    @Test
    void shouldSayWhatIsWrongWithAnOptionWithoutTheWholeUsage() {
        assertThat(run("demo", "--count", "0")).isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly(
                        "rackcall: --count must be between 1 and 1073741823, not 0", "See rackcall demo --help");
    }

    @Test
    void shouldPrintVersions() {
        assertThat(run("version")).isZero();
        assertThat(out.toString()).contains("rackcall", "JDK 25", "Linux");
    }

    @Test
    void shouldJudgeThisHostInOneLineEach() {
        int exitCode = run("doctor");

        assertThat(out.toString().lines()).allMatch(line -> line.matches("(ok|note|problem) +\\S.*|Rackcall can.*"));
        assertThat(exitCode).isEqualTo(out.toString().contains("problem ") ? 1 : 0);
    }

    @Test
    void shouldMakeACallForTheStartUpCache() {
        assertThat(run("train")).isZero();
        assertThat(err.toString()).isEmpty();
    }

    @Test
    void shouldExplainAFailureInOneLine() {
        assertThat(runFailing(new IllegalArgumentException("channel /shop: no server; start one")))
                .isEqualTo(1);
        assertThat(err.toString().lines())
                .singleElement()
                .asString()
                .isEqualTo("rackcall: channel /shop: no server; start one");
    }

    @Test
    void shouldMentionTheTraceForErrorsOfTheOperatingSystem() {
        assertThat(runFailing(new UncheckedIOException(new IOException("broken"))))
                .isEqualTo(1);
        assertThat(err.toString()).contains("broken (RACKCALL_TRACE=1 shows the stack trace)");
    }

    @Test
    void shouldShowTheStackTraceOfADefect() {
        assertThat(runFailing(new ArithmeticException("/ by zero"))).isEqualTo(1);
        assertThat(err.toString()).contains("ArithmeticException").contains("at dev.rackcall");
    }

    private int runFailing(RuntimeException failure) {
        Runnable command = () -> {
            throw failure;
        };
        CommandLine commandLine = RackcallCommand.commandLine();
        commandLine.addSubcommand("fail", CommandSpec.wrapWithoutInspection(command));
        return captured(commandLine).execute("fail");
    }

    private int run(String... arguments) {
        return captured(RackcallCommand.commandLine()).execute(arguments);
    }

    private CommandLine captured(CommandLine commandLine) {
        return commandLine.setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    }
}
