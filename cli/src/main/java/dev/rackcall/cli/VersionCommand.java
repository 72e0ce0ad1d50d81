package dev.rackcall.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code rackcall version}, and the text of {@code --version}: the first line of every bug report. */
@Command(name = "version", description = "Prints the versions of Rackcall, Java and the system.")
final class VersionCommand implements Runnable, IVersionProvider {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        spec.commandLine().printVersionHelp(spec.commandLine().getOut());
    }

    @Override
    public String[] getVersion() {
        String version = VersionCommand.class.getPackage().getImplementationVersion();
        return new String[] {
            "rackcall " + (version == null ? "(not packaged)" : version),
            "JDK " + Runtime.version() + ", " + System.getProperty("java.vendor"),
            System.getProperty("os.name") + " " + System.getProperty("os.version") + ", "
                    + System.getProperty("os.arch")
        };
    }
}
