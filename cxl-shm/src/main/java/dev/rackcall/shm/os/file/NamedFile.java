package dev.rackcall.shm.os.file;

import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import java.nio.file.Path;

/**
 * Names of {@link SharedFile}s. A file gets its name when it is complete, so a process that is killed earlier leaves
 * nothing behind. A name is removed only while it still belongs to the file.
 */
public final class NamedFile {
    private static final int OTHERS = 077;

    private NamedFile() {}

    /**
     * Creates a file of {@code bytes}, rounded up to whole pages. It gets its name {@code path} with {@link #publish}.
     *
     * @throws OsException if the directory is missing, not writable, or on a file system that cannot hold such files
     */
    public static SharedFile create(Path path, long bytes) {
        SharedFile.checkedLength(path.toString(), bytes);
        Path directory = path.toAbsolutePath().getParent();
        int fd = OpenFile.tryOpen(directory, LibcFiles.O_RDWR | LibcFiles.O_TMPFILE, 0600);
        if (fd < 0) {
            throw cannotCreate(path, directory, -fd);
        }
        try {
            long pageBytes = SharedFile.pageBytes(FileStatus.of(fd, path.toString()));
            long length = SharedFile.roundUp(bytes, pageBytes);
            SharedFile file = new SharedFile(fd, path.toString(), SharedFile.Kind.FILE, length, pageBytes);
            file.truncate(length);
            return file;
        } catch (RuntimeException e) {
            Descriptor.close(fd);
            throw e;
        }
    }

    private static OsException cannotCreate(Path path, Path directory, int errno) {
        String advice = switch (errno) {
            case Errno.ENOENT, Errno.ENOTDIR -> "there is no directory " + directory + ": make it first";
            case Errno.EACCES, Errno.EPERM, Errno.EROFS ->
                "this user may not write into " + directory + ": choose another directory";
            case Errno.EOPNOTSUPP, Errno.EISDIR, Errno.EINVAL ->
                "the file system of " + directory + " cannot hold shared memory: use /dev/shm or a hugetlbfs";
            default -> "choose another directory";
        };
        return new OsException("cannot create " + path, errno, advice);
    }

    /** Gives the file its name. Returns false if the name is taken. */
    public static boolean publish(SharedFile file) {
        return OpenFile.link(file.fd(), path(file));
    }

    /** Whether its path still leads to this file. */
    public static boolean isPublished(SharedFile file) {
        return FileStatus.of(file.fd(), file.toString()).isAt(path(file));
    }

    /** Removes the name if it still belongs to this file. The memory stays until its last user has closed it. */
    public static void remove(SharedFile file) {
        if (isPublished(file)) {
            OpenFile.unlink(path(file));
        }
    }

    /**
     * Rejects a file that other users can access.
     *
     * @throws OsException if it belongs to another user, or its mode allows other users
     */
    public static void requirePrivate(SharedFile file) {
        FileStatus status = FileStatus.of(file.fd(), file.toString());
        if (status.uid() != Uid.current()) {
            throw new OsException(
                    path(file) + " belongs to user " + status.uid() + ", not to user " + Uid.current(),
                    Errno.EACCES,
                    "run both processes as one user");
        }
        if ((status.permissions() & OTHERS) != 0) {
            throw new OsException(
                    path(file) + " has mode 0" + Integer.toOctalString(status.permissions())
                            + ", so that other users can reach it",
                    Errno.EACCES,
                    "chmod 600 " + path(file));
        }
    }

    /**
     * Opens the same file again. Unlike a descriptor that was only passed on, the new one has its own locks.
     *
     * @throws OsException if this user may not open it
     */
    public static SharedFile reopen(SharedFile file) {
        return SharedFile.adopt(OpenFile.open(Path.of("/proc/self/fd/" + file.fd()), LibcFiles.O_RDWR, 0));
    }

    private static Path path(SharedFile file) {
        return file.path().orElseThrow(() -> new IllegalArgumentException(file + " has no name"));
    }
}
