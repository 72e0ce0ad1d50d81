package dev.rackcall.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rackcall test} is carried out by the launcher, since it needs the sources; this class lists it in the help. */
@Command(name = "test", description = "Builds everything, runs the checks and all tests, prints the totals.")
final class TestCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--long",
            description =
                    "Only the long runs: 200 kills, 100,000 hostile cases, a million rewritten arguments. It comes first.")
    private boolean longRuns;

    @Parameters(
            arity = "0..*",
            paramLabel = "MAVEN-ARGUMENT",
            description = "Passed to Maven, for example: -pl rpc-core")
    private List<String> mavenArguments = List.of();

    @Override
    public Integer call() {
        spec.commandLine()
                .getErr()
                .println("rackcall: test needs the source tree; in a clone of the repository run: ./rackcall test "
                        + (longRuns ? "--long " : "")
                        + String.join(" ", mavenArguments));
        return 1;
    }
}
