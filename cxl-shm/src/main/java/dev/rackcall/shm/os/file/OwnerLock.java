package dev.rackcall.shm.os.file;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A lock file that shows the owner of a name. The kernel releases the lock when the owner dies, however it dies. The
 * lock belongs to the open file (F_OFD_SETLK), so two owners within one process exclude each other too. The file holds
 * a text for people and is removed by {@link #close}. After a crash, the next owner takes over the old file.
 */
public final class OwnerLock implements AutoCloseable {
    private static final long LOCKED_BYTE = 0;
    /** An attempt fails only if an owner is releasing the lock at that moment. */
    private static final int MAX_ATTEMPTS = 64;

    private static final int ABSENT = -1;
    private static final int HELD = -2;
    /** The former owner removed the file between the opening and the locking. */
    private static final int REMOVED = -3;

    private final Path path;
    private final Descriptor descriptor;

    private OwnerLock(Path path, int fd) {
        this.path = path;
        this.descriptor = new Descriptor(fd, "lock " + path);
    }

    /** As {@link #tryAcquire(Path, String)}, with this process's pid as text. */
    public static Optional<OwnerLock> tryAcquire(Path path) {
        return tryAcquire(path, "");
    }

    /**
     * Becomes the owner; empty if there already is one. A new file appears at its path with its text, and locked: a
     * process that removes what the dead left never sees it without an owner.
     *
     * @param instance written behind the pid, for example an instance id
     * @throws OsException if the file cannot be opened or written
     */
    public static Optional<OwnerLock> tryAcquire(Path path, String instance) {
        int fd = REMOVED;
        for (int attempt = 0; attempt < MAX_ATTEMPTS && (fd == REMOVED || fd == ABSENT); attempt++) {
            fd = lockExisting(path);
            if (fd == ABSENT) {
                Optional<OwnerLock> made = make(path, instance);
                if (made.isPresent()) {
                    return made;
                }
            }
        }
        return owner(path, fd).map(lock -> lock.write(instance));
    }

    /** Becomes the owner of a file that a dead owner left; empty if there is none. */
    public static Optional<OwnerLock> tryTakeOver(Path path) {
        int fd = REMOVED;
        for (int attempt = 0; attempt < MAX_ATTEMPTS && fd == REMOVED; attempt++) {
            fd = lockExisting(path);
        }
        return owner(path, fd);
    }

    private static Optional<OwnerLock> owner(Path path, int fd) {
        return fd < 0 ? Optional.empty() : Optional.of(new OwnerLock(path, fd));
    }

    /** The locked file's descriptor, or ABSENT, HELD or REMOVED. */
    private static int lockExisting(Path path) {
        int fd = OpenFile.tryOpen(path, LibcFiles.O_RDWR | LibcFiles.O_NOFOLLOW, 0);
        if (fd == -Errno.ENOENT) {
            return ABSENT;
        }
        if (fd < 0) {
            throw OpenFile.failure(path, -fd);
        }
        return lock(path, fd);
    }

    /** The descriptor, or HELD or REMOVED: then it is closed. */
    private static int lock(Path path, int fd) {
        int result = HELD;
        try {
            if (RecordLock.tryLock(fd, LOCKED_BYTE, path.toString())) {
                // If the former owner removed the file between our open and our lock, the lock is worthless.
                result = FileStatus.of(fd, path.toString()).isAt(path) ? fd : REMOVED;
            }
            return result;
        } finally {
            if (result < 0) {
                Descriptor.close(fd);
            }
        }
    }

    /** Creates the file; empty if another process has done so meanwhile. */
    private static Optional<OwnerLock> make(Path path, String instance) {
        Path directory = path.toAbsolutePath().getParent();
        int fd = OpenFile.tryOpen(directory, LibcFiles.O_RDWR | LibcFiles.O_TMPFILE, 0600);
        if (fd == -Errno.EOPNOTSUPP || fd == -Errno.EISDIR || fd == -Errno.EINVAL) {
            return makeUnlocked(path, instance);
        }
        if (fd < 0) {
            throw OpenFile.failure(path, -fd);
        }
        OwnerLock made = new OwnerLock(path, fd);
        boolean named = false;
        try {
            named = RecordLock.tryLock(fd, LOCKED_BYTE, path.toString())
                    && OpenFile.link(made.write(instance).descriptor.fd(), path);
        } finally {
            if (!named) {
                made.descriptor.close();
            }
        }
        return named ? Optional.of(made) : Optional.empty();
    }

    /** For file systems without nameless files: another process may lock the new file first. */
    static Optional<OwnerLock> makeUnlocked(Path path, String instance) {
        int fd = OpenFile.tryOpen(
                path, LibcFiles.O_RDWR | LibcFiles.O_CREAT | LibcFiles.O_EXCL | LibcFiles.O_NOFOLLOW, 0600);
        if (fd == -Errno.EEXIST) {
            return Optional.empty();
        }
        if (fd < 0) {
            throw OpenFile.failure(path, -fd);
        }
        return owner(path, lock(path, fd)).map(lock -> lock.write(instance));
    }

    /** Gives up the lock if it fails: the caller has not got it. */
    private OwnerLock write(String instance) {
        String text = "pid " + ProcessHandle.current().pid() + (instance.isEmpty() ? "" : " " + instance) + "\n";
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        CallState state = CallState.current();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocateFrom(JAVA_BYTE, bytes);
            if (LibcFiles.ftruncate(state.errnoSegment(), descriptor.fd(), 0) != 0
                    || LibcFiles.pwrite(state.errnoSegment(), descriptor.fd(), segment, bytes.length, 0)
                            != bytes.length) {
                int errno = state.errno();
                descriptor.close();
                throw new OsException("writing " + path, errno, "is its file system full?");
            }
        }
        return this;
    }

    /** Whether the lock has an owner now, possibly in this process. A file without an owner counts as free. */
    public static boolean isHeld(Path path) {
        int fd = OpenFile.tryOpen(path, LibcFiles.O_RDONLY | LibcFiles.O_NOFOLLOW, 0);
        if (fd == -Errno.ENOENT) {
            return false;
        }
        if (fd < 0) {
            throw OpenFile.failure(path, -fd);
        }
        try {
            return RecordLock.isHeldElsewhere(fd, LOCKED_BYTE, path.toString());
        } finally {
            Descriptor.close(fd);
        }
    }

    /** Whether the lock is still at its path: another process may have deleted the file. */
    public boolean isAtPath() {
        if (!descriptor.tryEnter()) {
            return false;
        }
        try {
            return FileStatus.of(descriptor.fd(), path.toString()).isAt(path);
        } finally {
            descriptor.exit();
        }
    }

    public Path path() {
        return path;
    }

    /** Removes the file and releases the lock. Idempotent. */
    @Override
    public synchronized void close() {
        if (descriptor.tryEnter()) {
            // While the lock is held, the name can only be our file's.
            if (FileStatus.of(descriptor.fd(), path.toString()).isAt(path)) {
                OpenFile.unlink(path);
            }
            descriptor.close();
            descriptor.exit();
        }
    }
}
