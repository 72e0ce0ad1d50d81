package dev.rackcall.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Whether this host has reserved the huge pages that measured connections are made of. */
final class HugePages {
    /** For four connections and their scopes. */
    private static final long NEEDED = 40;

    private static final String TOTAL = "HugePages_Total:";

    private HugePages() {}

    /** What it lacks. */
    static Optional<String> missing() {
        long reserved = reserved();
        return reserved >= NEEDED
                ? Optional.empty()
                : Optional.of("this host has " + reserved + " huge pages reserved, and " + NEEDED
                        + " are needed (as root: sysctl vm.nr_hugepages=48)");
    }

    /** All, since each process of a run asks while the others use some. */
    private static long reserved() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/meminfo"))) {
            return lines.filter(line -> line.startsWith(TOTAL))
                    .mapToLong(line ->
                            Long.parseLong(line.substring(TOTAL.length()).trim()))
                    .findFirst()
                    .orElse(0);
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }
}
