package dev.rackcall.perf.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;

/** A file with which one process passes text to another; it appears complete. */
public final class PublishedFile {
    private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(30);

    private PublishedFile() {}

    /** Creates the file with that text. */
    public static void publish(Path file, String text) throws IOException {
        Path draft = file.resolveSibling(file.getFileName() + ".draft");
        Files.writeString(draft, text);
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** Waits until the file exists, and returns its text. */
    public static String await(Path file) throws IOException, InterruptedException {
        for (long start = System.nanoTime(); !Files.exists(file); Thread.sleep(1)) {
            if (System.nanoTime() - start > BOUND_NANOS) {
                throw new IOException("the other side has not written " + file + " within 30 s");
            }
        }
        return Files.readString(file);
    }
}
