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
 * Writes the command's manual page and its completion for bash and zsh. {@code ./rackcall dist} puts them into the
 * archive.
 */
@Command(name = "manual", hidden = true, description = "Writes the manual page and the shell completion.")
final class ManualCommand implements Callable<Integer> {
    @Parameters(paramLabel = "FOLDER", description = "Where to write them.")
    private Path folder;

    @Override
    public Integer call() throws IOException {
        CommandLine command = RackcallCommand.commandLine();
        Path pages = Files.createDirectories(folder.resolve("share/man/man1"));
        Files.writeString(pages.resolve("rackcall.1"), ManualPage.of(command.getCommandSpec()));
        Path completions = Files.createDirectories(folder.resolve("share/bash-completion/completions"));
        Files.writeString(completions.resolve("rackcall"), AutoComplete.bash("rackcall", command));
        return CommandLine.ExitCode.OK;
    }
}
