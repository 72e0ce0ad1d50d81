package dev.rackcall.perf.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Comparator;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * The directory in memory ({@code /dev/shm}) in which one run of the benchmark keeps sockets and mapped files. It is
 * deleted at the end, even if the JVM ends before this is closed, as on Ctrl-C. A killed run leaves its directory
 * behind; the kernel releases the lock in it, and the next run deletes it.
 */
public final class Workspace implements AutoCloseable {
    private static final String PREFIX = "rackcall-bench-";
    private static final String LOCK = "owner.lock";
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    /** The owner of a directory without a lock file may be about to create the file. */
    private static final long GRACE_SECONDS = 60;

    private final Path directory;
    private final FileChannel lockFile;
    private final AtomicInteger nextPart = new AtomicInteger();
    private final Thread shutdownHook = Thread.ofPlatform().unstarted(this::deleteAll);

    private Workspace(Path directory, FileChannel lockFile) {
        this.directory = directory;
        this.lockFile = lockFile;
    }

    /** A new workspace in memory. */
    public static Workspace create() throws IOException {
        return create(Files.isWritable(SHARED_MEMORY) ? SHARED_MEMORY : Path.of(System.getProperty("java.io.tmpdir")));
    }

    /** A new workspace in that directory. */
    public static Workspace create(Path parent) throws IOException {
        reclaim(parent);
        Path directory = Files.createTempDirectory(parent, PREFIX);
        FileChannel lockFile =
                FileChannel.open(directory.resolve(LOCK), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        if (lockFile.tryLock() == null) {
            throw new IOException("another process locked " + directory + " just when it was created; try again");
        }
        Workspace workspace = new Workspace(directory, lockFile);
        Runtime.getRuntime().addShutdownHook(workspace.shutdownHook);
        return workspace;
    }

    /** A fresh directory inside, for one pair of processes. */
    public Path newPart() throws IOException {
        return Files.createDirectory(directory.resolve(Integer.toString(nextPart.getAndIncrement())));
    }

    Path directory() {
        return directory;
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
            deleteAll();
        } catch (IllegalStateException e) {
            // The JVM is shutting down, and the hook does the work.
        }
    }

    private void deleteAll() {
        try {
            delete(directory);
            lockFile.close();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot delete " + directory + "; delete it by hand", e);
        }
    }

    private static void reclaim(Path parent) throws IOException {
        try (DirectoryStream<Path> leftovers = Files.newDirectoryStream(parent, PREFIX + "*")) {
            for (Path leftover : leftovers) {
                if (Files.isWritable(leftover) && isDead(leftover)) {
                    delete(leftover);
                }
            }
        }
    }

    private static boolean isDead(Path leftover) throws IOException {
        Path lock = leftover.resolve(LOCK);
        if (!Files.exists(lock)) {
            Instant changed = Files.getLastModifiedTime(leftover).toInstant();
            return changed.isBefore(Instant.now().minusSeconds(GRACE_SECONDS));
        }
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
                FileLock owned = channel.tryLock()) {
            return owned != null;
        } catch (OverlappingFileLockException e) {
            return false; // this process owns it
        }
    }

    /** Deletes a directory with everything in it; files that vanish while it runs are not an error. */
    static void delete(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException e) {
            // Another process has deleted it.
        } catch (UncheckedIOException e) {
            if (!(e.getCause() instanceof NoSuchFileException)) {
                throw e.getCause();
            }
            delete(directory); // something vanished while it was listed
        }
    }
}
