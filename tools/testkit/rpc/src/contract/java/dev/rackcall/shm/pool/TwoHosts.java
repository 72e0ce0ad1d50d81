package dev.rackcall.shm.pool;

import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.os.file.SharedFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * One pool as two hosts have it, here in one process over a file in the machine's memory; the rack test has them in two
 * kernels.
 */
public final class TwoHosts implements AutoCloseable {
    private static final long BYTES = 256L << 20;

    private final Path path;
    private final Pool first;
    private final Pool second;

    private TwoHosts(Path path) {
        this.path = path;
        SharedFile.createFile(path, BYTES).close();
        this.first = host(0);
        this.second = host(1);
    }

    public static TwoHosts create() {
        try {
            Path path = Files.createTempFile(Path.of("/dev/shm"), "rackcall-two-hosts", "");
            Files.delete(path);
            return new TwoHosts(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The pool as another process of that host has it. */
    public Pool host(int number) {
        return host(path, number);
    }

    /** The pool at {@link #path} as that host has it. */
    public static Pool host(Path path, int number) {
        return Pool.ofHost(SharedFile.openFile(path), number, new BootId(0xb007 + number));
    }

    /** Its file, for other processes. */
    public Path path() {
        return path;
    }

    public Pool first() {
        return first;
    }

    public Pool second() {
        return second;
    }

    @Override
    public void close() {
        first.close();
        second.close();
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
