package dev.rackcall.samples.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs the store in several processes, by pointer and then serialised, and compares the results. */
public final class Demo {
    private static final double NANOS = 1e9;

    private Demo() {}

    /**
     * Runs the demo, which takes some seconds and leaves nothing behind.
     *
     * @throws DemoException if it fails; the message says why
     */
    public static Report run(DemoPlan plan, DemoProgress progress) {
        long start = System.nanoTime();
        Run pointer;
        Run serialised;
        Workplace workplace = Workplace.create();
        try (workplace) {
            pointer = Run.of(plan, StoreTransport.POINTER, workplace, progress);
            serialised = Run.of(plan, StoreTransport.SERIALISED, workplace, progress);
        } finally {
            progress.end();
        }
        pointer.checkSame(serialised);
        return report(plan, pointer, serialised, workplace.leftBehind(), (System.nanoTime() - start) / NANOS);
    }

    private static Report report(DemoPlan plan, Run pointer, Run serialised, List<String> leftBehind, double seconds) {
        Report.Side left = pointer.side();
        Report.Side right = serialised.side();
        Report.SpeedUp speedUp = new Report.SpeedUp(
                ratio(right.buildNs(), left.buildNs()),
                ratio(right.searchNs(), left.searchNs()),
                ratio(right.put().p50Ns(), left.put().p50Ns()),
                ratio(right.search().p50Ns(), left.search().p50Ns()));
        return new Report(
                machine(), plan, left, right, speedUp, pointer.badLineCount(), pointer.badLines(), leftBehind, seconds);
    }

    private static double ratio(long slow, long fast) {
        return fast == 0 ? 0 : Math.round(100.0 * slow / fast) / 100.0;
    }

    private static Report.Machine machine() {
        return new Report.Machine(
                Runtime.getRuntime().availableProcessors(),
                cpu(),
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch"),
                System.getProperty("java.vendor") + " " + Runtime.version());
    }

    private static String cpu() {
        try {
            Matcher matcher = Pattern.compile("(?m)^model name\\s*:\\s*(.+)$")
                    .matcher(Files.readString(Path.of("/proc/cpuinfo")));
            return matcher.find() ? matcher.group(1).strip() : "unknown processor";
        } catch (IOException e) {
            return "unknown processor";
        }
    }
}
