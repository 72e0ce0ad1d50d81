package dev.rackcall.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code rackcall version}. */
@Command(name = "version", description = "Prints the versions of Rackcall, Java and the system.")
final class VersionCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().printVersionHelp(spec.commandLine().getOut());
    }
}
