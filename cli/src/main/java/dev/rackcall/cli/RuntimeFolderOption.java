package dev.rackcall.cli;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/** {@code --dir}. */
final class RuntimeFolderOption {
    @Option(
            names = "--dir",
            paramLabel = "FOLDER",
            description = "The runtime folder of this host, with the sockets of its servers and agents (default:"
                    + " RACKCALL_DIR, or the one of this user).")
    private Optional<Path> folder = Optional.empty();

    Path path() {
        return folder.orElseGet(RuntimeDirectory::defaultPath);
    }
}
