package dev.rackcall.cli;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rackcall stress} is carried out by the launcher, since it needs the sources; this class lists it in the help. */
@Command(
        name = "stress",
        description =
                "Runs races of the lock-free structures with jcstress, two minutes by default; the last line sums up.")
final class StressCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "0..*",
            paramLabel = "OPTION",
            description = "--seconds N for all races together; --tests REGEX for those with such a name")
    private List<String> options = List.of();

    @Override
    public Integer call() {
        spec.commandLine()
                .getErr()
                .println("rackcall: stress needs the source tree; in a clone of the repository run: ./rackcall stress "
                        + String.join(" ", options));
        return 1;
    }
}
