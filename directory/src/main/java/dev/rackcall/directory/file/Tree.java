package dev.rackcall.directory.file;

import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.directory.DirectoryStore;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The files of the entries. An entry is a file and a folder is a directory; if a name is both, the entry's file lies
 * beside the directory. Files appear whole, by renaming. A writer that dies leaves at most a temporary file, which
 * readers skip. Changes need {@link FileStore}'s lock.
 */
final class Tree {
    private static final Pattern PATH = Pattern.compile("(/(?!\\.{1,2}(/|$))[A-Za-z0-9._@-]{1,200})+");
    /** The end of the name of an entry's file. No segment contains it. */
    private static final String ENTRY = "+";

    private static final String TEMPORARY = "+tmp";
    private static final int MAX_OWNER = 64;
    private static final int MAX_FILE = MAX_OWNER + 1 + DirectoryStore.MAX_VALUE_BYTES;

    private final Path root;

    Tree(Path root) {
        this.root = root;
    }

    private Path folder(String path) {
        if (!PATH.matcher(path).matches()) {
            throw new DirectoryException(Reason.INVALID, "'" + path + "' is not a path of the directory");
        }
        return root.resolve(path.substring(1));
    }

    private Path file(String path) {
        Path folder = folder(path);
        return folder.resolveSibling(folder.getFileName() + ENTRY);
    }

    /** The entry; empty if there is none, or if its file is malformed. */
    Optional<Entry> read(String path) throws IOException {
        return read(file(path));
    }

    private static Optional<Entry> read(Path file) throws IOException {
        if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            return Optional.empty();
        }
        byte[] bytes;
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            bytes = in.readNBytes(MAX_FILE + 1);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        int end = 0;
        while (end < bytes.length && end <= MAX_OWNER && bytes[end] != '\n') {
            end++;
        }
        if (bytes.length > MAX_FILE || end == bytes.length || bytes[end] != '\n') {
            return Optional.empty();
        }
        return Optional.of(Entry.of(
                new String(bytes, 0, end, StandardCharsets.UTF_8), Arrays.copyOfRange(bytes, end + 1, bytes.length)));
    }

    void write(String path, Entry entry) throws IOException {
        Path file = file(path);
        Files.createDirectories(file.getParent());
        Path temporary = file.resolveSibling(file.getFileName() + TEMPORARY);
        byte[] owner = entry.owner().getBytes(StandardCharsets.UTF_8);
        byte[] bytes = ByteBuffer.allocate(owner.length + 1 + entry.value().length)
                .put(owner)
                .put((byte) '\n')
                .put(entry.value())
                .array();
        Files.write(temporary, bytes);
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Removes the entry, and folders that become empty. */
    void remove(String path) throws IOException {
        Path file = file(path);
        Files.deleteIfExists(file);
        removeEmpty(file.getParent());
    }

    private void removeEmpty(Path folder) throws IOException {
        for (Path empty = folder; !empty.equals(root); empty = empty.getParent()) {
            try {
                Files.deleteIfExists(empty);
            } catch (DirectoryNotEmptyException e) {
                return;
            }
        }
    }

    /** Removes the root if it is empty. */
    void removeIfEmpty() throws IOException {
        try {
            Files.deleteIfExists(root);
        } catch (DirectoryNotEmptyException e) {
            // Other members have entries.
            return;
        }
    }

    /** The names directly below, of entries and folders, sorted. */
    List<String> children(String folder) throws IOException {
        return names(folder, true);
    }

    /** The names of the entries directly below, sorted. */
    List<String> entries(String folder) throws IOException {
        return names(folder, false);
    }

    private List<String> names(String path, boolean withFolders) throws IOException {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder(path))) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (name.endsWith(ENTRY)) {
                    names.add(name.substring(0, name.length() - ENTRY.length()));
                } else if (withFolders && name.indexOf(ENTRY) < 0) {
                    names.add(name);
                }
            }
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        Collections.sort(names);
        for (int i = names.size() - 1; i > 0; i--) {
            if (names.get(i).equals(names.get(i - 1))) {
                names.remove(i);
            }
        }
        return names;
    }

    /** Removes all entries of an owner, and temporary files, which have no writer while the lock is held. */
    void removeAllOf(String owner) throws IOException {
        List<Path> files;
        try (var walk = Files.walk(root)) {
            files = walk.filter(file -> file.getFileName().toString().contains(ENTRY))
                    .toList();
        } catch (NoSuchFileException e) {
            return;
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        for (Path file : files) {
            boolean leftover = file.getFileName().toString().endsWith(TEMPORARY);
            if (leftover
                    || read(file).filter(entry -> entry.owner().equals(owner)).isPresent()) {
                Files.deleteIfExists(file);
                removeEmpty(file.getParent());
            }
        }
    }
}
