package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

class RackcallCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void shouldListEveryCommandInTheHelp() {
        assertThat(run("help")).isZero();
        assertThat(out.toString())
                .contains("demo", "test", "stress", "rack-test", "doctor", "clean", "hold-seals", "version")
                .doesNotContain("train");
    }

    @Test
    void shouldRefuseACommandThatDoesNotExist() {
        assertThat(run("demolish")).isEqualTo(2);
        assertThat(err.toString()).contains("demolish").contains("See rackcall --help");
    }

    @Test
    void shouldSayWhatIsWrongWithAnOptionWithoutTheWholeUsage() {
        assertThat(run("demo", "--count", "0")).isEqualTo(2);
        assertThat(err.toString().lines())
                .containsExactly("--count must be between 1 and 1073741823, not 0", "See rackcall demo --help");
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
                .startsWith("rackcall: channel /shop: no server; start one");
    }

    @Test
    void shouldShowWhereADefectArose() {
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
