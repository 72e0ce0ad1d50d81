package dev.rackcall.rack.guest;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A suite of tests in a JVM of its own: it is test code, and ends its JVM. It says in its last line how many tests there were. One that says nothing for long has to say where its threads are. */
final class SuiteRun {
    /** Runs test classes by name. */
    static final String CLASSES = "dev.rackcall.rack.guest.SuiteMain";

    private static final Duration BOUND = Duration.ofMinutes(5);
    /** Longer than any test may take. */
    private static final Duration SILENCE = Duration.ofSeconds(80);

    private static final Pattern COUNTS = Pattern.compile(
            "(VERBS CONTRACT|SUITE) (?<verdict>OK|FAILED): (?<counts>\\d+ passed, \\d+ failed, (?<skipped>\\d+) skipped)");

    private final ChildWatch watch;
    private final Process suite;
    private String counts = "";
    private int skipped;
    private boolean good;

    private SuiteRun(Process suite) {
        this.suite = suite;
        this.watch = ChildWatch.over(suite, SILENCE, BOUND);
    }

    /**
     * How it went.
     *
     * @param counts {@code 48 passed, 0 failed, 4 skipped}
     */
    record Outcome(String counts, int skipped) {}

    /** @throws IllegalStateException unless all of its tests are good */
    static Outcome of(String main, String... arguments) throws IOException, InterruptedException {
        return new SuiteRun(java(main, arguments)).await();
    }

    /** A JVM like this one that runs another program. */
    static Process java(String main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private Outcome await() throws IOException, InterruptedException {
        try (BufferedReader output = suite.inputReader()) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                watch.heard();
                System.out.println(line);
                listen(line);
            }
        } finally {
            watch.close();
        }
        int status = suite.waitFor();
        Guest.require(
                good && status == 0,
                counts.isEmpty() ? "the suite ended with status " + status + " and did not say how it went" : counts);
        return new Outcome(counts, skipped);
    }

    private void listen(String line) {
        Matcher matcher = COUNTS.matcher(line);
        if (matcher.find()) {
            counts = matcher.group("counts");
            skipped = Integer.parseInt(matcher.group("skipped"));
            good = matcher.group("verdict").equals("OK");
        }
    }
}
