package dev.rackcall.rack.guest;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A suite of tests in a JVM of its own: it is test code, and ends its JVM. It says in its last line how many tests there were. */
final class SuiteRun {
    private static final int BOUND_SECONDS = 300;

    private static final Pattern COUNTS = Pattern.compile(
            "(VERBS CONTRACT|SUITE) (?<verdict>OK|FAILED): (?<counts>\\d+ passed, \\d+ failed, (?<skipped>\\d+) skipped)");

    private SuiteRun() {}

    /**
     * How it went.
     *
     * @param counts {@code 48 passed, 0 failed, 4 skipped}
     */
    record Outcome(String counts, int skipped) {}

    /** @throws IllegalStateException unless all of its tests are good */
    static Outcome of(String main, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
        command.addAll(List.of(arguments));
        Process suite = new ProcessBuilder(command).redirectErrorStream(true).start();
        Thread bound = Thread.startVirtualThread(() -> killAfterBound(suite));
        String counts = "";
        int skipped = 0;
        boolean good = false;
        try (BufferedReader output = suite.inputReader()) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                System.out.println(line);
                Matcher matcher = COUNTS.matcher(line);
                if (matcher.find()) {
                    counts = matcher.group("counts");
                    skipped = Integer.parseInt(matcher.group("skipped"));
                    good = matcher.group("verdict").equals("OK");
                }
            }
        }
        int status = suite.waitFor();
        bound.interrupt();
        Guest.require(
                good && status == 0,
                counts.isEmpty() ? "the suite ended with status " + status + " and did not say how it went" : counts);
        return new Outcome(counts, skipped);
    }

    private static void killAfterBound(Process suite) {
        try {
            if (!suite.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
                System.out.println("the suite did not end in " + BOUND_SECONDS + " s and is killed");
                suite.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
