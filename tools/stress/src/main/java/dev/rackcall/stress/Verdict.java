package dev.rackcall.stress;

import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jcstress.infra.collectors.TestResult;

/**
 * The outcome of the races. Classes whose names begin with {@code Planted} hold a bug on purpose: finding it shows that
 * this machine and this run would have found one like it.
 */
final class Verdict {
    private static final String PLANTED = "Planted";

    private final Map<String, Boolean> sound = new TreeMap<>();
    private final Map<String, Boolean> planted = new TreeMap<>();
    private final StringBuilder details = new StringBuilder();
    private long runs;

    Verdict(Collection<TestResult> results) {
        for (TestResult result : results) {
            // With the outer class: races of several classes have the same name.
            String name = result.getName().replaceFirst(".*[.](?=\\w+[.$]\\w+$)", "");
            boolean hasRun = result.getTotalCount() > 0;
            runs += result.getTotalCount();
            if (name.replaceFirst(".*[.$]", "").startsWith(PLANTED)) {
                planted.merge(name, hasRun && result.grading().hasInteresting, Boolean::logicalOr);
            } else {
                boolean passed = hasRun && result.grading().isPassed;
                sound.merge(name, passed, Boolean::logicalAnd);
                if (!passed) {
                    describe(name, result);
                }
            }
        }
    }

    private void describe(String name, TestResult result) {
        details.append("  ").append(name).append(": ").append(result.status());
        result.getStateKeys()
                .forEach(state ->
                        details.append("; ").append(state).append(" seen ").append(result.getCount(state)));
        result.getMessages().forEach(message -> details.append("\n    ").append(message));
        result.getVmErr().forEach(line -> details.append("\n    ").append(line));
        details.append('\n');
    }

    /** Whether all races ended well, and at least one planted bug was found: else the run shows nothing. */
    boolean isGood() {
        return !sound.isEmpty() && !sound.containsValue(false) && (planted.isEmpty() || planted.containsValue(true));
    }

    /** The failures, in whole lines; empty if there are none. */
    String details() {
        return details.toString();
    }

    /** One line. */
    String summary() {
        StringBuilder line = new StringBuilder("stress: ");
        line.append(count(sound)).append(" of ").append(sound.size()).append(" races ended well in ");
        line.append(String.format("%.1f million runs", runs / 1e6));
        if (!planted.isEmpty()) {
            line.append("; planted bugs found: ")
                    .append(count(planted))
                    .append(" of ")
                    .append(planted.size());
        }
        planted.forEach((name, found) -> line.append(found ? "" : "; not found here: " + name));
        return line.toString();
    }

    private static long count(Map<String, Boolean> outcomes) {
        return outcomes.values().stream().filter(good -> good).count();
    }
}
