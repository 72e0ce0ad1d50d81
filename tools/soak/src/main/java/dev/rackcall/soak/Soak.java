package dev.rackcall.soak;

import dev.rackcall.testkit.Await;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * One soak. It keeps a server and a client of each transport alive among {@link Mortals}. After a quarter of its storm it
 * has all calls end and samples the survivors; at the end none may have grown beyond the limits of
 * {@link ProcessSample}.
 */
final class Soak implements AutoCloseable {
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    /** How long survivors may need to let go of what the last dead had. */
    private static final Duration SETTLING = Duration.ofSeconds(90);

    private final Set<SoakTransport> transports;
    private final long seed;
    private final PrintStream out = System.out;
    private final Peers peers;
    private final Mortals mortals;
    private final Random random;
    private final Map<SoakTransport, Survivor> servers = new TreeMap<>();
    private final Map<SoakTransport, Survivor> clients = new TreeMap<>();
    private final List<Survivor> others = new ArrayList<>();
    private final AtomicReference<Throwable> wrong = new AtomicReference<>();
    private final long began = System.nanoTime();
    private long filesBefore;

    Soak(Set<SoakTransport> transports, long seed) throws IOException {
        this.transports = transports;
        this.seed = seed;
        random = new Random(seed);
        peers = new Peers(Files.createTempDirectory(Path.of("/dev/shm"), "rackcall-soak-"), transports);
        mortals = new Mortals(peers, random.nextLong(), failure -> wrong.compareAndSet(null, failure));
    }

    /** Runs it, prints a table, and returns whether every answer was right and nothing grew. */
    boolean run(Duration length) throws Exception {
        out.println("soak: " + length.toMinutes() + " min over " + transports + ", --seed " + seed);
        Map<String, Map<String, Long>> grown = new LinkedHashMap<>();
        try {
            startSurvivors();
            storm(length.dividedBy(4));
            calm();
            rememberSettled();
            proceed();
            storm(length.minus(length.dividedBy(4)));
            calm();
            grown.putAll(grownAtLast());
            endSurvivors(grown);
        } catch (Exception | AssertionError e) {
            wrong.compareAndSet(null, e);
            obituaries();
        }
        report(grown);
        return wrong.get() == null && grown.isEmpty();
    }

    /** Kills all survivors and prints how others had ended before. */
    private void obituaries() throws InterruptedException {
        List<Survivor> all = survivors();
        // Clients first, which fail without servers; then servers, which fail without agents.
        Collections.rotate(all, -others.size());
        for (Survivor survivor : all) {
            survivor.kill().ifPresent(how -> out.println("soak: " + how));
        }
    }

    /** Prints what it does or waits for. */
    private void tell(String what) {
        out.println("soak: at " + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began) + " s: " + what);
    }

    private List<Survivor> survivors() {
        List<Survivor> all = new ArrayList<>(others);
        all.addAll(clients.values());
        all.addAll(servers.values());
        return all;
    }

    private void startSurvivors() throws Exception {
        tell("the survivors start");
        if (transports.contains(SoakTransport.QUEUES)) {
            others.add(peers.agents());
            others.getFirst().awaitReady();
        }
        for (SoakTransport transport : transports) {
            servers.put(transport, peers.server(transport));
        }
        for (Survivor server : servers.values()) {
            server.awaitReady();
        }
        mortals.whileServed(transports, () -> {
            for (SoakTransport transport : transports) {
                clients.put(transport, peers.client(transport, random.nextLong()));
            }
            // A client is ready when both its servers have answered.
            for (Survivor client : clients.values()) {
                client.awaitReady();
            }
        });
        Survivor stranger = peers.stranger(random.nextLong());
        others.add(stranger);
        stranger.awaitReady();
    }

    private void storm(Duration length) throws Exception {
        tell("a storm of " + length.toSeconds() + " s");
        long end = System.nanoTime() + length.toNanos();
        mortals.start();
        try {
            while (System.nanoTime() - end < 0 && wrong.get() == null) {
                for (Survivor survivor : survivors()) {
                    if (!survivor.isAlive()) {
                        throw new AssertionError(survivor + " has ended");
                    }
                }
                reclaim(false);
                LockSupport.parkNanos(LOOK_NANOS);
            }
        } finally {
            tell("waits for the short-lived peers to end");
            mortals.stop();
        }
        if (wrong.get() != null) {
            throw new AssertionError("a short-lived peer failed", wrong.get());
        }
    }

    private void reclaim(boolean all) throws Exception {
        Survivor pool = servers.get(SoakTransport.POOL);
        if (pool != null) {
            peers.reclaim(pool, all);
        }
    }

    /** Ends all calls, those of clients first. */
    private void calm() throws Exception {
        tell("has all calls end");
        // It removes what the files of a killed server have left.
        mortals.whileServed(transports, () -> {});
        reclaim(true);
        for (Survivor survivor : survivors()) {
            survivor.calmSample();
        }
    }

    private void proceed() throws Exception {
        for (Survivor survivor : survivors().reversed()) {
            survivor.ask("proceed");
        }
    }

    /** Samples until two samples are alike. */
    private void rememberSettled() throws Exception {
        tell("waits up to " + SETTLING.toSeconds() + " s for what survivors have to stop shrinking");
        long end = System.nanoTime() + SETTLING.toNanos();
        boolean shrinks;
        do {
            for (Survivor survivor : survivors()) {
                survivor.remember(survivor.calmSample());
            }
            LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
            shrinks = false;
            for (Survivor survivor : survivors()) {
                shrinks |= !ProcessSample.grown(survivor.calmSample(), survivor.baseline())
                        .isEmpty();
            }
        } while (shrinks && System.nanoTime() - end < 0);
        filesBefore = ProcessSample.files(peers.root());
    }

    /** What still is more than it may be after a bounded wait, by survivor. */
    private Map<String, Map<String, Long>> grownAtLast() throws Exception {
        tell("waits up to " + SETTLING.toSeconds() + " s for survivors to have no more than before");
        long end = System.nanoTime() + SETTLING.toNanos();
        Map<String, Map<String, Long>> grown = new LinkedHashMap<>();
        do {
            grown.clear();
            for (Survivor survivor : survivors()) {
                Map<String, Long> more = ProcessSample.grown(survivor.baseline(), survivor.calmSample());
                if (!more.isEmpty()) {
                    grown.put(survivor.toString(), more);
                }
            }
            long files = ProcessSample.files(peers.root()) - filesBefore;
            if (files > 0) {
                grown.put("the soak's folder", Map.of("files", files));
            }
        } while (!grown.isEmpty() && System.nanoTime() - end < 0);
        return grown;
    }

    private void endSurvivors(Map<String, Map<String, Long>> grown) throws Exception {
        for (Survivor survivor : survivors().reversed()) {
            survivor.end();
        }
        List<Path> left = new ArrayList<>();
        for (SoakTransport transport : transports) {
            Path folder = transport.folder(peers.root());
            // The last server removes it.
            if (Files.exists(folder)) {
                try (Stream<Path> files = Files.walk(folder)) {
                    files.filter(file -> !Files.isDirectory(file)).forEach(left::add);
                }
            }
        }
        if (!left.isEmpty()) {
            grown.put("files " + left, Map.of("left", (long) left.size()));
        }
    }

    private void report(Map<String, Map<String, Long>> grown) {
        out.printf(
                "%-8s %12s %12s %8s %8s %8s %10s %28s%n",
                "", "calls", "checked", "kills", "stops", "ends", "wrong", "grown KiB (in the heap)");
        for (SoakTransport transport : servers.keySet()) {
            Survivor server = servers.get(transport);
            Optional<Survivor> client = Optional.ofNullable(clients.get(transport));
            out.printf(
                    "%-8s %,12d %,12d %,8d %,8d %,8d %10s %28s%n",
                    transport.word(),
                    server.counter("calls"),
                    client.map(each -> each.counter("answered")).orElse(0L) + mortals.count(transport, "answered"),
                    mortals.count(transport, "kills"),
                    mortals.count(transport, "stops"),
                    mortals.count(transport, "ends"),
                    wrong.get() == null ? "0" : "see below",
                    growth(server) + client.map(each -> ", " + growth(each)).orElse(""));
        }
        grown.forEach((survivor, what) ->
                out.println("soak: " + survivor + " has grown beyond its limit since the first quarter: " + what));
        if (wrong.get() != null) {
            out.println("soak: FAILED, --seed " + seed + ":");
            wrong.get().printStackTrace(out);
        } else {
            out.println(
                    grown.isEmpty()
                            ? "soak: every answer was right, and nothing grew beyond its limit"
                            : "soak: FAILED, --seed " + seed);
        }
    }

    private static String growth(Survivor survivor) {
        long kib = survivor.growth("private KiB") + survivor.growth("shared KiB");
        return kib + " (" + survivor.growth("heap-KiB") + ")";
    }

    @Override
    public void close() {
        survivors().forEach(Survivor::close);
        Await.deleted(peers.root());
    }
}
