package dev.rackcall.stress;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;
import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.JCStress;
import org.openjdk.jcstress.Options;
import org.openjdk.jcstress.infra.collectors.DiskReadCollector;
import org.openjdk.jcstress.infra.collectors.InProcessCollector;
import org.openjdk.jcstress.infra.runners.TestList;

/**
 * {@code rackcall stress [--seconds N] [--tests REGEX]}: runs all races for about N seconds together and prints one
 * line. Exit code 0 if all ended well, 1 if one did not, 2 if the run could not be made or did not end. Works in the
 * current directory, which gets jcstress's log and report.
 */
public final class StressMain {
    private static final int DEFAULT_SECONDS = 120;
    private static final int ITERATIONS = 5;
    private static final int LEAST_MILLIS = 50;
    /** The time to start a JVM for a race. */
    private static final int START_MILLIS = 1_500;

    private static final int PATIENCE = 3;

    private StressMain() {}

    /** See the class. */
    public static void main(String[] arguments) throws Exception {
        int seconds = DEFAULT_SECONDS;
        String tests = ".*";
        for (int i = 0; i < arguments.length; i += 2) {
            String value = i + 1 < arguments.length ? arguments[i + 1] : "";
            if (arguments[i].equals("--seconds") && value.matches("[1-9]\\d{0,4}")) {
                seconds = Integer.parseInt(value);
            } else if (arguments[i].equals("--tests") && !value.isEmpty()) {
                tests = value;
            } else {
                System.err.println("rackcall: stress cannot use '" + (arguments[i] + " " + value).strip()
                        + "'; usage: rackcall stress [--seconds N] [--tests REGEX]");
                System.exit(2);
            }
        }
        System.exit(run(seconds, tests));
    }

    private static int run(int seconds, String tests) throws Exception {
        watch(seconds);
        PrintStream terminal = System.out;
        Path log = Path.of("stress.log").toAbsolutePath();
        try (PrintStream out = new PrintStream(log.toFile(), StandardCharsets.UTF_8)) {
            System.setOut(out);
            SortedSet<String> chosen = new JCStress(options(tests, LEAST_MILLIS)).getTests();
            if (chosen.isEmpty()) {
                terminal.println("stress: no race has a name that matches " + tests);
                return 2;
            }
            // jcstress leaves these out by itself, and says nothing.
            int processors = Runtime.getRuntime().availableProcessors();
            List<String> tooWide = chosen.stream()
                    .filter(race -> TestList.getInfo(race).threads() > processors)
                    .toList();
            if (!tooWide.isEmpty()) {
                terminal.println("stress: SKIPPED, since each of their actors needs one of " + processors
                        + " processors: " + String.join(", ", tooWide));
            }
            int count = chosen.size() - tooWide.size();
            if (count == 0) {
                return 2;
            }
            long millis = (TimeUnit.SECONDS.toMillis(seconds) / count - START_MILLIS) / ITERATIONS;
            Options options = options(tests, Math.max(LEAST_MILLIS, millis));
            terminal.println("stress: " + count + " races, about " + seconds + " s; jcstress's output goes to " + log);
            new JCStress(options).run();
            return judge(options, terminal);
        } finally {
            System.setOut(terminal);
        }
    }

    private static Options options(String tests, long millis) throws IOException {
        Options options = new Options(new String[] {
            "-t", tests,
            "-f", "1",
            "-iters", Integer.toString(ITERATIONS),
            "-time", Long.toString(millis),
            "-sc", "false",
            "-af", "NONE",
            "-hs", "256",
            "-r", "report",
            "-jvmArgs", "--enable-native-access=ALL-UNNAMED -XX:+UseSerialGC"
        });
        if (!options.parse()) {
            throw new IllegalArgumentException("jcstress does not accept its options");
        }
        return options;
    }

    private static int judge(Options options, PrintStream terminal) throws IOException, ClassNotFoundException {
        InProcessCollector results = new InProcessCollector();
        DiskReadCollector file = new DiskReadCollector(options.getResultFile(), results);
        file.dump();
        file.close();
        Files.deleteIfExists(Path.of(options.getResultFile()));
        Verdict verdict = new Verdict(results.getTestResults());
        terminal.print(verdict.details());
        terminal.println(verdict.summary());
        return verdict.isGood() ? 0 : 1;
    }

    /** The run has a bound, also if a race never ends. */
    private static void watch(int seconds) {
        Thread watcher = new Thread(
                () -> {
                    try {
                        TimeUnit.SECONDS.sleep((long) PATIENCE * seconds + TimeUnit.MINUTES.toSeconds(1));
                    } catch (InterruptedException e) {
                        return;
                    }
                    System.err.println(
                            "stress: stopped, since the races did not end in " + PATIENCE + " times their time");
                    Runtime.getRuntime().halt(2);
                },
                "stress-watch");
        watcher.setDaemon(true);
        watcher.start();
    }
}
