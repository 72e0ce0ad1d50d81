package dev.rackcall.directory.file;

import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.OwnerLock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/** One lock file for all changes of a directory. The kernel releases it if its holder dies. Thread-safe. */
final class ChangeLock {
    private static final long RETRY_MILLIS = 2;

    private final Path root;
    private final Path file;
    private final Duration timeout;

    ChangeLock(Path root, Duration timeout) {
        this.root = root;
        this.file = root.resolve("changes.lock");
        this.timeout = timeout;
    }

    /** A change of the files. */
    @FunctionalInterface
    interface Change<T> {
        T make() throws IOException;
    }

    /**
     * Makes a change with the lock held.
     *
     * @param what for messages: {@code making /channels/...}
     * @throws DirectoryException {@code UNAVAILABLE} if another process holds the lock for too long, or if the
     *     files cannot be changed
     */
    <T> T under(String what, Change<T> change) {
        try (OwnerLock held = acquire(what)) {
            return change.make();
        } catch (IOException | OsException e) {
            throw failed(what, e);
        }
    }

    private OwnerLock acquire(String what) {
        long end = System.nanoTime() + timeout.toNanos();
        while (true) {
            Optional<OwnerLock> lock = OwnerLock.tryAcquire(file);
            if (lock.isPresent()) {
                return lock.get();
            }
            if (System.nanoTime() >= end) {
                throw new DirectoryException(
                        Reason.UNAVAILABLE,
                        what + ": another process has held " + file + " for " + timeout.toMillis()
                                + " ms; the file names it: is it stopped?");
            }
            try {
                Thread.sleep(RETRY_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new DirectoryException(
                        Reason.UNAVAILABLE, what + ": interrupted while it waited for its turn", e);
            }
        }
    }

    DirectoryException failed(String what, Exception e) {
        return new DirectoryException(
                Reason.UNAVAILABLE, what + ": the files in " + root + " do not allow it: " + e, e);
    }
}
