package dev.rackcall.rack.guest;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A suite of tests in a JVM of its own, since its program ends the JVM. Its last line has the number of tests.
 */
final class SuiteRun {
    /** Runs test classes by name. */
    static final String CLASSES = "dev.rackcall.rack.guest.SuiteMain";

    private static final Duration BOUND = Duration.ofMinutes(8);
    private static final Pattern COUNTS = Pattern.compile(
            "(VERBS CONTRACT|SUITE) (?<verdict>OK|FAILED): (?<counts>\\d+ passed, \\d+ failed, (?<skipped>\\d+) skipped)");

    private String counts = "";
    private int skipped;
    private boolean good;

    private SuiteRun() {}

    /**
     * The result of a suite.
     *
     * @param counts {@code 48 passed, 0 failed, 4 skipped}
     */
    record Outcome(String counts, int skipped) {}

    /** @throws IllegalStateException unless all of its tests are good */
    static Outcome of(String main, String... arguments) throws IOException, InterruptedException {
        SuiteRun run = new SuiteRun();
        int status = GuestJvm.start(List.of(), main, List.of(arguments)).await(BOUND, run::listen);
        Guest.require(
                run.good && status == 0,
                run.counts.isEmpty()
                        ? "the suite ended with status " + status + " and did not say how it went"
                        : run.counts);
        return new Outcome(run.counts, run.skipped);
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
