package dev.rackcall.cli.view;

import dev.rackcall.cli.top.PrintableText;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** The runtime folders of other processes, as their environments tell. */
final class RuntimeFolders {
    private static final int MOST_BYTES = 1 << 20;

    private RuntimeFolders() {}

    /**
     * The runtime folder of a process, if it differs from this process's and exists here. The other process chose the path:
     * one that is not printable is rejected.
     */
    static Optional<Path> of(int pid) {
        try {
            Path process = Path.of("/proc", Integer.toString(pid));
            Path folder = Files.readSymbolicLink(process.resolve("cwd")).resolve(chosen(process));
            boolean plain = PrintableText.isPrintable(folder.toString());
            boolean other = !folder.equals(RuntimeDirectory.defaultPath().toAbsolutePath());
            return Optional.of(folder).filter(path -> plain && other && Files.isDirectory(path));
        } catch (IOException | InvalidPathException e) {
            // It has ended, or belongs to another user.
            return Optional.empty();
        }
    }

    /** Computes {@link RuntimeDirectory#defaultPath} for that process. */
    private static Path chosen(Path process) throws IOException {
        String environment;
        try (InputStream file = Files.newInputStream(process.resolve("environ"))) {
            environment = new String(file.readNBytes(MOST_BYTES), StandardCharsets.UTF_8);
        }
        return value(environment, "RACKCALL_DIR=")
                .or(() -> value(environment, "XDG_RUNTIME_DIR=").map(path -> path.resolve("rackcall")))
                .orElse(Path.of(
                        System.getProperty("java.io.tmpdir"), "rackcall-" + Files.getAttribute(process, "unix:uid")));
    }

    private static Optional<Path> value(String environment, String prefix) {
        return Stream.of(environment.split("\0"))
                .filter(each -> each.startsWith(prefix) && each.length() > prefix.length())
                .map(each -> Path.of(each.substring(prefix.length())))
                .findFirst();
    }
}
