package dev.rackcall.perf.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.TimeUnit;

/** A file by which one process tells another something; it appears whole. */
public final class PublishedFile {
    private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(30);

    private PublishedFile() {}

    /** Makes the file appear with that text. */
    public static void publish(Path file, String text) throws IOException {
        Path draft = file.resolveSibling(file.getFileName() + ".draft");
        Files.writeString(draft, text);
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
    }

    /** The file's text, as soon as it is there. */
    public static String await(Path file) throws IOException, InterruptedException {
        for (long start = System.nanoTime(); !Files.exists(file); Thread.sleep(1)) {
            if (System.nanoTime() - start > BOUND_NANOS) {
                throw new IOException("the other side has not written " + file + " within 30 s");
            }
        }
        return Files.readString(file);
    }
}
