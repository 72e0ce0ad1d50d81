package dev.rackcall.perf.harness;

import java.io.IOException;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Memory that a process holds right now.
 *
 * @param sharedBytes its part of shared memory (PSS): each process counts an equal part of a page that several map, so
 *     the sum over all processes is what the machine spends
 * @param privateBytes memory of its own, Java heap included
 * @param heapBytes live Java objects after a collection
 */
public record Footprint(long sharedBytes, long privateBytes, long heapBytes) implements Serializable {
    private static final Path ROLLUP = Path.of("/proc/self/smaps_rollup");

    /** Collects garbage and measures this process. */
    public static Footprint ofThisProcess() throws IOException {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        String rollup = Files.readString(ROLLUP);
        long heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        return new Footprint(
                field(rollup, "Pss_Shmem"), field(rollup, "Private_Clean") + field(rollup, "Private_Dirty"), heap);
    }

    /** The sum of both. */
    public Footprint plus(Footprint other) {
        return new Footprint(
                sharedBytes + other.sharedBytes, privateBytes + other.privateBytes, heapBytes + other.heapBytes);
    }

    private static long field(String rollup, String name) {
        Matcher line = Pattern.compile("^" + name + ":\\s+(\\d+) kB", Pattern.MULTILINE)
                .matcher(rollup);
        if (!line.find()) {
            throw new IllegalStateException(ROLLUP + " has no field " + name + "; the kernel is older than 5.4");
        }
        return Long.parseLong(line.group(1)) * 1024;
    }
}
