package dev.rackcall.perf.isolation;

import dev.rackcall.sandbox.os.HardwareKeys;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;

/** What this host lacks for some subjects; empty if it has everything. */
final class BenchHost {
    /** For four connections and their scopes. */
    private static final long HUGE_PAGES_NEEDED = 40;

    private static final String HUGE_PAGES_TOTAL = "HugePages_Total:";
    /** The first Linux with mseal(2), major and minor, which a client needs to give up its memory. */
    private static final int[] WITH_MSEAL = {6, 10};

    private BenchHost() {}

    /** The host's reserved huge pages, used ones included: each process of a run asks while the others use some. */
    static Optional<String> missingHugePages() {
        long reserved = 0;
        try (Stream<String> lines = Files.lines(Path.of("/proc/meminfo"))) {
            reserved = lines.filter(line -> line.startsWith(HUGE_PAGES_TOTAL))
                    .mapToLong(line -> Long.parseLong(
                            line.substring(HUGE_PAGES_TOTAL.length()).strip()))
                    .sum();
        } catch (IOException | NumberFormatException e) {
            // Not every container shows the file.
        }
        return reserved >= HUGE_PAGES_NEEDED
                ? Optional.empty()
                : Optional.of("this host has " + reserved + " huge pages reserved, and " + HUGE_PAGES_NEEDED
                        + " are needed (as root: sysctl vm.nr_hugepages=48)");
    }

    /** What enforced seals need of the kernel. */
    static Optional<String> missingHeldSeals() {
        String[] kernel = System.getProperty("os.version").split("[^0-9]+");
        try {
            int[] version = {Integer.parseInt(kernel[0]), Integer.parseInt(kernel[1])};
            if (Arrays.compare(version, WITH_MSEAL) >= 0) {
                Userfault.open().close();
                return Optional.empty();
            }
        } catch (UnsupportedFeatureException | NumberFormatException | ArrayIndexOutOfBoundsException e) {
            // Said below.
        }
        return Optional.of("this host has no enforced seals, which need Linux 6.10 and userfaultfd");
    }

    /** What protection keys need of the processor. */
    static Optional<String> missingKeys() {
        try {
            HardwareKeys.requireProcessor();
            return Optional.empty();
        } catch (UnsupportedFeatureException e) {
            return Optional.of(e.getMessage());
        }
    }
}
