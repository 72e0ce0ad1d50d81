package dev.rackcall.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * Writes the command's manual page and its completions for bash and zsh. {@code ./rackcall dist} puts them into the
 * archive.
 */
@Command(name = "manual", hidden = true, description = "Writes the manual page and the shell completion.")
final class ManualCommand implements Callable<Integer> {
    /** Makes zsh load the file when it completes the command for the first time. */
    private static final String ZSH_BEGIN = "#compdef rackcall\n";

    /** Completes that first time; from then on, the script has told zsh what to call. */
    private static final String ZSH_END = "\n_bash_complete -o default -F _complete_rackcall\n";

    @Parameters(paramLabel = "FOLDER", description = "Where to write them.")
    private Path folder;

    @Override
    public Integer call() throws IOException {
        CommandLine command = RackcallCommand.commandLine();
        Path pages = Files.createDirectories(folder.resolve("share/man/man1"));
        Files.writeString(pages.resolve("rackcall.1"), ManualPage.of(command.getCommandSpec()));
        Path completions = Files.createDirectories(folder.resolve("share/bash-completion/completions"));
        String completion = AutoComplete.bash("rackcall", command);
        Files.writeString(completions.resolve("rackcall"), completion);
        Path functions = Files.createDirectories(folder.resolve("share/zsh/site-functions"));
        Files.writeString(functions.resolve("_rackcall"), ZSH_BEGIN + completion + ZSH_END);
        return CommandLine.ExitCode.OK;
    }
}
