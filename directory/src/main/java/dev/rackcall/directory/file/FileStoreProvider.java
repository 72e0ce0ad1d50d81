package dev.rackcall.directory.file;

import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.directory.DirectoryOptions;
import dev.rackcall.directory.DirectoryStore;
import dev.rackcall.directory.StoreProvider;
import java.net.URI;
import java.nio.file.Path;

/** {@code file:///a/path}: a directory of one host. */
public final class FileStoreProvider implements StoreProvider {
    /** For {@code ServiceLoader}. */
    public FileStoreProvider() {}

    @Override
    public String scheme() {
        return "file";
    }

    @Override
    public DirectoryStore open(URI address, DirectoryOptions options) {
        Path path;
        try {
            path = Path.of(address);
        } catch (IllegalArgumentException e) {
            throw new DirectoryException(
                    Reason.INVALID, "'" + address + "' names no local folder; write file:///a/folder", e);
        }
        return FileStore.open(path, options);
    }
}
