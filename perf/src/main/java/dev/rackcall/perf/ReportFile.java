package dev.rackcall.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where a report goes. */
record ReportFile(Path path) {
    /**
     * Makes the folder if it is missing. Before the first measurement, not after the last.
     *
     * @throws IllegalArgumentException if the report could not be written there
     */
    void requireWritable() {
        if (Files.isDirectory(path)) {
            throw new IllegalArgumentException("--out " + path + ": is a folder; name a file in it");
        }
        Path folder = path.toAbsolutePath().getParent();
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "--out " + path + ": its folder cannot be made ("
                            + e.getClass().getSimpleName() + ": " + e.getMessage() + ")",
                    e);
        }
        if (!Files.isWritable(Files.exists(path) ? path : folder)) {
            throw new IllegalArgumentException("--out " + path + ": this user may not write there");
        }
    }

    void write(String text) throws IOException {
        Files.writeString(path, text);
    }
}
