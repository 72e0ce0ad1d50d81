package dev.rackcall.cli;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code rackcall help}: like {@code --help} after a command at any depth, as in {@code rackcall help demo rack}. */
@Command(name = "help", description = "Shows the help of a command, or the list of commands.", helpCommand = true)
final class HelpCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Parameters(arity = "0..*", paramLabel = "COMMAND", description = "For example: demo rack")
    private List<String> words = List.of();

    @Override
    public void run() {
        CommandLine command = spec.parent().commandLine();
        for (String word : words) {
            CommandLine next = command.getSubcommands().get(word);
            if (next == null) {
                throw new ParameterException(command, "there is no command '" + String.join(" ", words) + "'");
            }
            command = next;
        }
        CommandLine root = spec.parent().commandLine();
        command.usage(root.getOut());
        root.getOut().flush();
    }
}
