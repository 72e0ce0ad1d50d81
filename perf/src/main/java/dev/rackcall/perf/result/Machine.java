package dev.rackcall.perf.result;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The conditions of a run.
 *
 * @param cores processors that this process may use
 * @param cpu their model
 * @param kernel operating system and version
 * @param memoryBytes memory of the machine
 * @param load1m tasks that were running or waiting in the minute before; above 0.5 other work disturbs the figures
 * @param pinned processors of server and client side, for the subjects that spin; empty if there are fewer than two
 * @param jvm vendor and version
 * @param flags of every measured JVM
 * @param clockNs the cost of one reading of the clock; each latency contains one
 * @param clockSource the kernel's clock
 * @param date when, in UTC
 * @param command the command line
 * @param durationS length of one measurement in seconds; 0 if they differ
 */
public record Machine(
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

    /** This machine now. */
    public static Machine describe(List<Integer> pinned, List<String> flags, String command, double durationSeconds) {
        return new Machine(
                Runtime.getRuntime().availableProcessors(),
                find("/proc/cpuinfo", "(?m)^model name\\s*:\\s*(.+)$", "unknown"),
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch"),
                1024 * Long.parseLong(find("/proc/meminfo", "(?m)^MemTotal:\\s*(\\d+)", "0")),
                Double.parseDouble(find("/proc/loadavg", "^(\\S+)", "0")),
                pinned,
                System.getProperty("java.vendor") + " " + Runtime.version(),
                flags,
                clockCost(),
                find("/sys/devices/system/clocksource/clocksource0/current_clocksource", "(?s)(.*)", ""),
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                command,
                durationSeconds);
    }

    /** The least over some rounds: a disturbance makes a round only longer. */
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

    /** The first group of a pattern in a file of the kernel; not every kernel and container has every file. */
    private static String find(String file, String pattern, String otherwise) {
        try {
            Matcher matcher = Pattern.compile(pattern).matcher(Files.readString(Path.of(file)));
            return matcher.find() ? matcher.group(1).strip() : otherwise;
        } catch (IOException e) {
            return otherwise;
        }
    }
}
