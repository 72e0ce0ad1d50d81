package dev.rackcall.cli;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The host as its files describe it. A file that cannot be read counts as absent: a check must work in any container.
 *
 * @param root the folder that stands for {@code /}; tests pass a made-up host
 */
record HostFiles(Path root) {
    static HostFiles ofThisHost() {
        return new HostFiles(Path.of("/"));
    }

    Path path(String absolute) {
        return root.resolve(absolute.substring(1));
    }

    boolean exists(String absolute) {
        return Files.exists(path(absolute));
    }

    boolean canReadAndWrite(String absolute) {
        return Files.isReadable(path(absolute)) && Files.isWritable(path(absolute));
    }

    /** The file's text without surrounding white space. */
    Optional<String> text(String absolute) {
        try {
            return Optional.of(Files.readString(path(absolute)).strip());
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** The file's text if it is a decimal number. */
    OptionalLong number(String absolute) {
        return text(absolute)
                .filter(text -> text.matches("\\d{1,18}"))
                .map(text -> OptionalLong.of(Long.parseLong(text)))
                .orElse(OptionalLong.empty());
    }

    /** The rest of the first line that begins with {@code start}, stripped. */
    Optional<String> line(String absolute, String start) {
        return text(absolute)
                .flatMap(text -> text.lines()
                        .filter(line -> line.startsWith(start))
                        .map(line -> line.substring(start.length()).strip())
                        .findFirst());
    }

    /** Names in a folder that match a glob, sorted. */
    List<String> names(String absolute, String glob) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path(absolute), glob)) {
            for (Path entry : entries) {
                names.add(entry.getFileName().toString());
            }
        } catch (IOException | DirectoryIteratorException e) {
            return List.of();
        }
        names.sort(null);
        return names;
    }

    /** The file system that holds a path. */
    Optional<FileStore> fileStore(String absolute) {
        try {
            return Optional.of(Files.getFileStore(path(absolute)));
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
