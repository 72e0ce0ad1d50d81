package dev.rackcall.directory.file;

import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.file.OwnerLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

/** The folder that a directory of files is kept in: made by whoever comes first, and refused if others could write it. */
final class RootFolder {
    private static final String OURS = "rwx------";
    private static final int MAX_ATTEMPTS = 16;

    private RootFolder() {}

    /**
     * Makes the folder unless it is there, and joins.
     *
     * @throws DirectoryException {@code INVALID} if others can write it, {@code UNAVAILABLE} if it cannot be made
     */
    static OwnerLock join(Path root, Members members) {
        try {
            for (int attempt = 1; ; attempt++) {
                try {
                    makeOrCheck(root);
                    return members.join();
                } catch (NoSuchFileException e) {
                    // The last member that was in it has removed it just now.
                    if (attempt == MAX_ATTEMPTS) {
                        throw e;
                    }
                } catch (OsException e) {
                    if (attempt == MAX_ATTEMPTS || e.errno() != Errno.ENOENT) {
                        throw e;
                    }
                }
            }
        } catch (IOException | OsException e) {
            throw new DirectoryException(
                    Reason.UNAVAILABLE,
                    "the directory " + root + " cannot be opened: " + e + "; is it a folder that you can write?",
                    e);
        }
    }

    private static void makeOrCheck(Path root) throws IOException {
        if (!Files.isDirectory(root, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectories(root, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(OURS)));
        }
        PosixFileAttributes attributes =
                Files.readAttributes(root, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        String mode = PosixFilePermissions.toString(attributes.permissions());
        int uid = (Integer) Files.getAttribute(root, "unix:uid", LinkOption.NOFOLLOW_LINKS);
        if (mode.charAt(4) == 'w' || mode.charAt(7) == 'w' || uid != Uid.current()) {
            throw new DirectoryException(
                    Reason.INVALID,
                    "the directory " + root + " must belong to uid " + Uid.current() + " and nobody else may write it"
                            + " (found uid " + uid + ", " + mode + "); chmod 700 it, or name another one");
        }
    }
}
