package dev.rackcall.perf;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Processor time of another process. */
final class ProcessorTime {
    private ProcessorTime() {}

    /**
     * Nanoseconds that the live threads of a process have run, from the scheduler's own count: {@code /proc/PID/stat} counts in hundredths of
     * a second, too coarse for an idle process.
     */
    static long ofProcess(long pid) throws IOException {
        long sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"))) {
            for (Path thread : threads) {
                sum += ofThread(thread);
            }
        }
        return sum;
    }

    private static long ofThread(Path thread) throws IOException {
        try {
            String stat = Files.readString(thread.resolve("schedstat"));
            return Long.parseLong(stat.substring(0, stat.indexOf(' ')));
        } catch (NoSuchFileException e) {
            return 0; // it ended meanwhile
        }
    }
}
