package dev.rackcall.perf;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where and how the figures came about.
 *
 * @param cores processors that this process may use
 * @param cpu their model
 * @param kernel operating system and version
 * @param memoryBytes memory of the machine
 * @param load1m tasks that were running or waiting in the minute before; above 0.5 other work disturbs the figures
 * @param pinned processors of server and client side, for the subjects that spin; empty if there are fewer than two
 * @param jvm vendor and version
 * @param flags of every measured JVM
 * @param clockNs what one reading of the clock costs; each latency contains one
 * @param clockSource the kernel's clock
 * @param date when, in UTC
 * @param command what was run
 * @param durationS length of one measurement in seconds
 */
record Machine(
        int cores,
        String cpu,
        String kernel,
        long memoryBytes,
        double load1m,
        List<Integer> pinned,
        String jvm,
        List<String> flags,
        double clockNs,
        String clockSource,
        String date,
        String command,
        double durationS) {
    private static final int CLOCK_READINGS = 200_000;
    private static final int CLOCK_ROUNDS = 5;

    static Machine describe(Cores cores, String command, double durationSeconds) {
        return new Machine(
                Runtime.getRuntime().availableProcessors(),
                find(read("/proc/cpuinfo"), "(?m)^model name\\s*:\\s*(.+)$"),
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch"),
                1024 * Long.parseLong(find(read("/proc/meminfo"), "(?m)^MemTotal:\\s*(\\d+)", "0")),
                Double.parseDouble(find(read("/proc/loadavg"), "^(\\S+)", "0")),
                cores.equals(Cores.UNPINNED) ? List.of() : List.of(cores.server(), cores.client()),
                System.getProperty("java.vendor") + " " + Runtime.version(),
                ChildJvm.measuringFlags(),
                clockCost(),
                read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
                        .strip(),
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                command,
                durationSeconds);
    }

    /** The least over some rounds: what disturbs a round makes it only longer. */
    private static double clockCost() {
        double least = Double.MAX_VALUE;
        for (int round = 0; round < CLOCK_ROUNDS; round++) {
            long start = System.nanoTime();
            long last = start;
            for (int i = 0; i < CLOCK_READINGS; i++) {
                last = System.nanoTime();
            }
            least = Math.min(least, (double) (last - start) / CLOCK_READINGS);
        }
        return Math.round(least * 10) / 10.0;
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException e) {
            return ""; // not every kernel and container shows everything
        }
    }

    private static String find(String text, String pattern) {
        return find(text, pattern, "unknown");
    }

    private static String find(String text, String pattern, String otherwise) {
        Matcher matcher = Pattern.compile(pattern).matcher(text);
        return matcher.find() ? matcher.group(1).strip() : otherwise;
    }
}
