package dev.rackcall.directory.file;

import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.file.OwnerLock;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;

/** The lock files of the members. A member lives as long as its lock is held; removing its file expels it. */
final class Members {
    private static final String SUFFIX = ".lock";
    private static final Pattern NAME = Pattern.compile("[0-9a-f]{16}");

    private static final String OURS = "rwx------";
    private static final int MAX_ATTEMPTS = 16;

    private final Path folder;

    Members(Path folder) {
        this.folder = folder;
    }

    /**
     * Makes the directory's folder unless it exists, checks that no other user can write it, and joins.
     *
     * @throws DirectoryException {@code INVALID} if others can write it, {@code UNAVAILABLE} if it cannot be made
     */
    OwnerLock joinIn(Path root) {
        try {
            for (int attempt = 1; ; attempt++) {
                try {
                    makeOrCheck(root);
                    return join();
                } catch (NoSuchFileException e) {
                    // The last member has just removed the directory.
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
                    "the directory " + root + " must belong to uid " + Uid.current() + " and no other user may write it"
                            + " (found uid " + uid + ", " + mode + "); chmod 700 it, or name another one");
        }
    }

    /** Adds a member with a name that was never used. */
    OwnerLock join() throws IOException {
        try {
            Files.createDirectory(folder);
        } catch (FileAlreadyExistsException e) {
            // It exists. If its last member removes it now, the lock file cannot be made and the caller retries.
        }
        return OwnerLock.tryAcquire(file(Long.toHexString(new Random().nextLong() | Long.MIN_VALUE)))
                .orElseThrow(() -> new IOException("a new member's lock in " + folder + " is held by another process"));
    }

    static String name(OwnerLock lock) {
        String file = lock.path().getFileName().toString();
        return file.substring(0, file.length() - SUFFIX.length());
    }

    private Path file(String member) {
        return folder.resolve(member + SUFFIX);
    }

    /** Whether a member lives. Always true for the empty name, which is the owner of entries without a member. */
    boolean isAlive(String member) {
        return member.isEmpty() || (NAME.matcher(member).matches() && OwnerLock.isHeld(file(member)));
    }

    /** Removes a dead member's file. */
    void bury(String member) throws IOException {
        if (NAME.matcher(member).matches()) {
            Files.deleteIfExists(file(member));
        }
    }

    /** All members that have a file, and whether they live. */
    Map<String, Boolean> all() throws IOException {
        Map<String, Boolean> members = new HashMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                String member = name.substring(0, name.length() - SUFFIX.length());
                members.put(member, isAlive(member));
            }
        } catch (NoSuchFileException e) {
            return Map.of();
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return members;
    }
}
