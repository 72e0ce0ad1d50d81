package dev.rackcall.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists {@code rackcall install} in the help. The launcher carries it out, because it needs the sources. */
@Command(
        name = "install",
        description =
                "Puts rpc-core and rpc-processor into the local Maven repository, with sources and Javadoc, for applications to compile against.")
final class InstallCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        spec.commandLine()
                .getErr()
                .println(
                        "rackcall: install needs the source tree; in a clone of the repository run: ./rackcall install");
        return 1;
    }
}
