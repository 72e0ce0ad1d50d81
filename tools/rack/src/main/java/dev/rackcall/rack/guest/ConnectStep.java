package dev.rackcall.rack.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures connections over a real device, with both ends in one guest: virtual queues, and fresh queue pairs of its
 * kernel; one at a time.
 */
final class ConnectStep implements Guest.Work {
    private static final String BENCH = "dev.rackcall.rack.guest.BenchMain";
    /** A guest has little memory, and each subject has two JVMs. */
    private static final List<String> FLAGS = List.of("-Xms64m", "-Xmx64m", "-XX:-AlwaysPreTouch");

    /** Set explicitly, because measured JVMs do not inherit it. */
    private static final String FAST_START = "-XX:TieredStopAtLevel=1";

    /** Each queue pair takes tens of milliseconds in a guest. */
    private static final String[] SMALL = {"--workers", "4", "--servers", "4"};

    private static final Duration BOUND = Duration.ofMinutes(5);
    private static final Pattern RESULT =
            Pattern.compile("\"name\" *: *\"(?<name>[a-z-]+)\".*?\"p50_ns\" *: *(?<nanos>\\d+)", Pattern.DOTALL);

    @Override
    public String run(Guest guest) throws IOException, InterruptedException {
        // Two runs: the JVMs of all subjects of a run live at the same time and would not fit into a guest.
        Map<String, Double> micros = bench("connect", "connect-cached,connect-uncached,connect-fresh-rc");
        micros.putAll(bench("connect", "connect-first,connect-read"));
        double fresh = micros.get("connect-fresh-rc");
        String connections = String.format(
                Locale.ROOT,
                "medians, emulated: a virtual queue %.1f us from the cache, %.0f us by a READ of the meta table (a READ alone: %.0f us), %.0f us to the first READ of a host"
                        + " without a connection yet; a fresh RC queue pair %.0f us (%.1f and %.1f times as long as the first two)",
                micros.get("connect-cached"),
                micros.get("connect-uncached"),
                micros.get("connect-read"),
                micros.get("connect-first"),
                fresh,
                fresh / micros.get("connect-cached"),
                fresh / micros.get("connect-uncached"));
        // A long run has no time for it, because all steps share one bound.
        return guest.isLong() ? connections : connections + elastic();
    }

    private static String elastic() throws IOException, InterruptedException {
        Map<String, Double> micros = bench("elastic", "elastic-virtual-first", SMALL);
        micros.putAll(bench("elastic", "elastic-fresh-first", SMALL));
        double virtual = micros.get("elastic-virtual-first");
        double fresh = micros.get("elastic-fresh-first");
        return String.format(
                Locale.ROOT,
                "; 4 workers connected to 4 servers each, up to the last one's first key, %.0f ms by virtual queues, %.0f by fresh queue pairs (%.0f %% less)",
                virtual / 1000,
                fresh / 1000,
                100 * (1 - virtual / fresh));
    }

    /** Microseconds by name. */
    private static Map<String, Double> bench(String target, String subjects, String... more)
            throws IOException, InterruptedException {
        Path out = Path.of("/tmp/connect.json");
        List<String> arguments = new ArrayList<>(List.of(more));
        String rest = target + " --device " + RdmaEnd.DEVICE
                + " --repeat 1 --duration 500ms --warm-up 2s --format json --out " + out + " --only " + subjects;
        arguments.addAll(List.of(rest.split(" ", -1)));
        int status = GuestJvm.start(FLAGS, FAST_START, BENCH, arguments).await(BOUND, line -> {});
        Guest.require(status == 0, "bench " + target + " of " + subjects + " ended with status " + status);
        Map<String, Double> micros = new LinkedHashMap<>();
        Matcher results = RESULT.matcher(Files.readString(out));
        while (results.find()) {
            micros.put(results.group("name"), Long.parseLong(results.group("nanos")) / 1000.0);
        }
        return micros;
    }
}
