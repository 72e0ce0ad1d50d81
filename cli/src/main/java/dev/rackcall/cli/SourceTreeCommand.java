package dev.rackcall.cli;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * A command that needs the sources, so the launcher carries it out. The classes exist for the list of commands in the
 * help.
 */
abstract class SourceTreeCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    /** The arguments, to be repeated in the message. */
    abstract List<String> arguments();

    @Override
    public Integer call() {
        String command = spec.name() + " " + String.join(" ", arguments());
        spec.commandLine()
                .getErr()
                .println("rackcall: " + spec.name()
                        + " needs the source tree; in a clone of the repository run: ./rackcall " + command.strip());
        return 1;
    }

    /** {@code rackcall test}. */
    @Command(name = "test", description = "Builds everything, runs the checks and all tests, prints the totals.")
    static final class Test extends SourceTreeCommand {
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
        List<String> arguments() {
            return longRuns
                    ? Stream.concat(Stream.of("--long"), mavenArguments.stream())
                            .toList()
                    : mavenArguments;
        }
    }

    /** {@code rackcall dist}. */
    @Command(
            name = "dist",
            description =
                    "Packs this command with a Java runtime of its own, for hosts without a JDK and without a clone.")
    static final class Dist extends SourceTreeCommand {
        @Override
        List<String> arguments() {
            return List.of();
        }
    }

    /** {@code rackcall javadoc}. */
    @Command(
            name = "javadoc",
            description = "Builds the Javadoc of all published modules as one site, in target/reports/apidocs.")
    static final class Javadoc extends SourceTreeCommand {
        @Override
        List<String> arguments() {
            return List.of();
        }
    }

    /** {@code rackcall stress}. */
    @Command(
            name = "stress",
            description =
                    "Runs races of the lock-free structures with jcstress, two minutes by default; the last line sums up.")
    static final class Stress extends SourceTreeCommand {
        @Parameters(
                arity = "0..*",
                paramLabel = "OPTION",
                description = "--seconds N for all races together; --tests REGEX for those with such a name")
        private List<String> options = List.of();

        @Override
        List<String> arguments() {
            return options;
        }
    }

    /** {@code rackcall soak}. */
    @Command(
            name = "soak",
            description =
                    "Calls over all transports of one host among peers that are killed and stopped, beside a stranger that writes garbage, for an hour by default; fails at a wrong answer, or if a survivor has grown beyond its limit.")
    static final class Soak extends SourceTreeCommand {
        @Parameters(
                arity = "0..*",
                paramLabel = "OPTION",
                description =
                        "--minutes N, of calls (starting and settling take some more); --seed N to repeat the choices of a run")
        private List<String> options = List.of();

        @Override
        List<String> arguments() {
            return options;
        }
    }

    /** {@code rackcall install}. */
    @Command(
            name = "install",
            description =
                    "Puts rackcall-core and rackcall-processor into the local Maven repository, with sources and Javadoc, for applications to compile against.")
    static final class Install extends SourceTreeCommand {
        @Option(names = "--all", description = "All artifacts, and rackcall-bom with their versions; takes minutes.")
        private boolean all;

        @Override
        List<String> arguments() {
            return all ? List.of("--all") : List.of();
        }
    }
}
