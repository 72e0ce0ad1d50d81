package dev.rackcall.rack.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What connections cost over a real device, both ends behind it: virtual ones, and queue pairs that its kernel makes anew; one at a time. */
final class ConnectStep implements GuestStep {
    private static final String BENCH = "dev.rackcall.rack.guest.BenchMain";
    /** A guest's memory is small, and each subject has two JVMs. */
    private static final List<String> FLAGS = List.of("-Xms64m", "-Xmx64m", "-XX:-AlwaysPreTouch");

    /** JVMs that are measured do not have it by themselves. */
    private static final String FAST_START = "-XX:TieredStopAtLevel=1";

    private static final Duration SILENCE = Duration.ofSeconds(80);
    private static final Duration BOUND = Duration.ofMinutes(5);
    private static final Pattern RESULT =
            Pattern.compile("\"name\" *: *\"(?<name>[a-z-]+)\".*?\"p50_ns\" *: *(?<nanos>\\d+)", Pattern.DOTALL);

    @Override
    public String run(Guest guest) throws IOException, InterruptedException {
        // All subjects of a run have their JVMs at the same time, more than a guest's memory would hold.
        Map<String, Double> micros = bench("connect-cached,connect-uncached,connect-fresh-rc");
        micros.putAll(bench("connect-first,connect-read"));
        double fresh = micros.get("connect-fresh-rc");
        return String.format(
                Locale.ROOT,
                "medians, emulated: a virtual queue %.1f us from the cache, %.0f us by a READ of the meta table (a READ alone: %.0f us), %.0f us to a host's first READ"
                        + " where nothing leads there yet; a fresh RC queue pair %.0f us (%.1f and %.1f times as long as the first two)",
                micros.get("connect-cached"),
                micros.get("connect-uncached"),
                micros.get("connect-read"),
                micros.get("connect-first"),
                fresh,
                fresh / micros.get("connect-cached"),
                fresh / micros.get("connect-uncached"));
    }

    /** Microseconds by name. */
    private static Map<String, Double> bench(String subjects) throws IOException, InterruptedException {
        Path out = Path.of("/tmp/connect.json");
        List<String> arguments = List.of(
                "connect",
                "--device",
                RdmaEnd.DEVICE,
                "--repeat",
                "1",
                "--duration",
                "500ms",
                "--warm-up",
                "2s",
                "--format",
                "json",
                "--out",
                out.toString(),
                "--only",
                subjects);
        int status = GuestJvm.start(FLAGS, FAST_START, BENCH, arguments).await(SILENCE, BOUND, line -> {});
        Guest.require(status == 0, "bench connect of " + subjects + " ended with status " + status);
        Map<String, Double> micros = new LinkedHashMap<>();
        Matcher results = RESULT.matcher(Files.readString(out));
        while (results.find()) {
            micros.put(results.group("name"), Long.parseLong(results.group("nanos")) / 1000.0);
        }
        return micros;
    }
}
