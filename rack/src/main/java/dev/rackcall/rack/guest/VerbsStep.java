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

/** The contract suite of module verbs in a JVM of its own: it is test code, and ends its JVM. */
final class VerbsStep implements GuestStep {
    private static final String DEVICE = "rxe0";
    private static final String SUITE = "dev.rackcall.verbs.VerbsContractMain";
    private static final int BOUND_SECONDS = 150;

    private static final Pattern COUNTS =
            Pattern.compile("VERBS CONTRACT (?<verdict>OK|FAILED): (?<counts>\\d+ passed, \\d+ failed, \\d+ skipped)");

    @Override
    public String run(Guest guest) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), SUITE, DEVICE));
        Process suite = new ProcessBuilder(command).redirectErrorStream(true).start();
        Thread bound = Thread.startVirtualThread(() -> killAfterBound(suite));
        String counts = "";
        boolean good = false;
        try (BufferedReader output = suite.inputReader()) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                System.out.println(line);
                Matcher matcher = COUNTS.matcher(line);
                if (matcher.find()) {
                    counts = matcher.group("counts");
                    good = matcher.group("verdict").equals("OK");
                }
            }
        }
        int status = suite.waitFor();
        bound.interrupt();
        Guest.require(
                good && status == 0,
                counts.isEmpty() ? "the suite ended with status " + status + " and did not say how it went" : counts);
        return counts;
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
