package dev.rackcall.samples.demo;

import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.samples.demo.RackSeat.Host;
import dev.rackcall.samples.demo.RackSeat.Role;
import dev.rackcall.samples.demo.RackSeat.Sample;
import dev.rackcall.samples.demo.RackSeat.Setup;
import dev.rackcall.samples.documents.DocumentStore;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Three hosts in two racks. The memory of rack 1 is host-a's runtime folder, to which host-b has its own link.
 * Removing the link takes the memory away from host-b only.
 */
public final class RackDemo {
    private static final ChannelName STORE = ChannelName.of(DocumentStore.CHANNEL);
    /** How long an overloaded machine may take to notice a change. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final int MAX_HOSTS = 16;
    /** Longer than the demo, which ends its hosts itself: a slow machine must not lose a host. */
    private static final Duration LEASE = Duration.ofMinutes(10);

    /** Longer than a name's lease, because a failing server of the directory can lose a withdrawal. */
    private static final Duration NAMES_PATIENCE = Duration.ofSeconds(20);

    /** A member of an ensemble may lag for a moment. */
    private static final Duration NAMES_QUIET = Duration.ofSeconds(1);

    private static final long LOOK_MILLIS = 100;

    private final Plan plan;
    private final PrintWriter out;
    private final Workplace workplace;
    private final URI address;
    private final long start = System.nanoTime();
    private long searches;
    private long failed;

    private RackDemo(Plan plan, PrintWriter out, Workplace workplace) {
        this.plan = plan;
        this.out = out;
        this.workplace = workplace;
        this.address = plan.directory().orElseGet(() -> folder("members").toUri());
    }

    /**
     * The settings of the demo.
     *
     * @param directory in which the hosts find each other; if empty, the demo uses its own folder
     * @param count documents in the store
     * @param part how long each part takes
     * @param seed of the documents and searches
     */
    public record Plan(Optional<URI> directory, int count, Duration part, long seed) {}

    /**
     * Runs the demo and prints samples. Leaves nothing behind.
     *
     * @return whether every call succeeded and nothing is left
     * @throws DemoException if it fails; the message says why
     */
    public static boolean run(Plan plan, PrintWriter out) {
        Workplace workplace = Workplace.create();
        RackDemo demo = new RackDemo(plan, out, workplace);
        List<String> left = new ArrayList<>();
        try (workplace;
                Directory directory = Directory.open(demo.address)) {
            demo.requireFree(directory);
            demo.show();
            left.addAll(demo.namesLeft(directory));
        } catch (IOException e) {
            throw new DemoException("the demo's folder cannot be used: " + e, e);
        } catch (DirectoryException e) {
            throw new DemoException("the directory cannot be used: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DemoException("interrupted", e);
        }
        left.addAll(workplace.leftBehind());
        out.printf(Locale.ROOT, "%n%,d searches, %,d failed. ", demo.searches, demo.failed);
        out.println(left.isEmpty() ? "Nothing is left behind." : "Left behind: " + left);
        return demo.failed == 0 && left.isEmpty();
    }

    private void requireFree(Directory directory) {
        List<Endpoint> others = directory.endpoints(STORE);
        if (!others.isEmpty()) {
            throw new DemoException("the directory " + address + " names servers of " + STORE + " already: "
                    + describe(others) + ". Wait until that demo has ended (if it was killed, 10 s), or give this one"
                    + " a folder of its own, as in zk://host:2181/demo-2");
        }
    }

    private static String describe(List<Endpoint> endpoints) {
        return endpoints.stream().map(each -> each.id() + " on " + each.host()).collect(Collectors.joining(", "));
    }

    /** The names that remain after all hosts have ended. Waits for the end of their leases if there are any. */
    private List<String> namesLeft(Directory directory) throws InterruptedException {
        long begin = System.nanoTime();
        boolean said = false;
        try {
            List<Endpoint> left = directory.endpoints(STORE);
            for (long waited = 0; !left.isEmpty() && waited < NAMES_PATIENCE.toNanos(); ) {
                if (!said && waited > NAMES_QUIET.toNanos()) {
                    said = true;
                    out.printf(
                            "%nThe directory still names %s: waiting for the end of their leases, %d s at most.%n",
                            describe(left), NAMES_PATIENCE.toSeconds());
                    out.flush();
                }
                Thread.sleep(LOOK_MILLIS);
                left = directory.endpoints(STORE);
                waited = System.nanoTime() - begin;
            }
            return left.isEmpty() ? List.of() : List.of("in the directory " + describe(left));
        } catch (DirectoryException e) {
            return List.of("perhaps names in the directory, until their leases end: " + e.getMessage());
        }
    }

    private Path folder(String name) {
        return workplace.directory().resolve(name);
    }

    private RackSeat host(MetaServer meta, Role role, String name, Path memory) {
        Host host = new Host(
                role,
                name,
                address,
                RackSeat.ANY_PORT,
                Optional.empty(),
                Optional.of(meta.address().toString()),
                plan.count(),
                plan.seed());
        return RackSeat.start(new Setup(workplace.directory(), memory, host), workplace, () -> {});
    }

    private void show() throws IOException {
        out.printf(
                Locale.ROOT,
                "Rack 1: host-a serves %,d documents, host-b shares its memory. Rack 2: host-c. Directory: %s%n",
                plan.count(),
                plan.directory().map(URI::toString).orElse("a folder of the demo's own"));
        out.flush();
        Path memory = folder("rack-1");
        Path view = folder("rack-1-seen-by-host-b");
        Files.createSymbolicLink(view, memory);
        try (MetaServer meta = MetaServer.open(SoftDevice.of("meta", SoftOptions.local()), MAX_HOSTS, LEASE);
                RackSeat _ = host(meta, Role.SERVE, "host-a", memory);
                RackSeat near = host(meta, Role.FILL_AND_SEARCH, "host-b", view);
                RackSeat far = host(meta, Role.SEARCH, "host-c", folder("rack-2"))) {
            out.printf(
                    "%n%7s  %-8s  %-8s  %-24s %12s %10s %10s%n",
                    "", "client", "server", "over", "searches/s", "p50", "p99");
            watch(near, far, "", Sample::memory);
            Files.delete(view);
            watch(near, far, "The memory of rack 1 is taken away from host-b.", sample -> !sample.memory());
            Files.createSymbolicLink(view, memory);
            watch(near, far, "host-b has it back.", Sample::memory);
        }
    }

    /** One part: prints samples for its duration, and until both hosts use the expected routes. */
    private void watch(RackSeat near, RackSeat far, String what, Predicate<Sample> expected) {
        if (!what.isEmpty()) {
            out.printf("%n         %s%n", what);
        }
        long begin = System.nanoTime();
        while (true) {
            Sample nearby = print(near.sample());
            Sample remote = print(far.sample());
            long nanos = System.nanoTime() - begin;
            boolean asExpected = expected.test(nearby)
                    && !remote.memory()
                    && Stream.of(nearby, remote).allMatch(sample -> sample.isSettled() && sample.searches() > 0);
            if (asExpected && nanos >= plan.part().toNanos()) {
                return;
            }
            if (nanos > plan.part().plus(PATIENCE).toNanos()) {
                throw new DemoException("host-b still talks over " + nearby.over() + ", host-c over " + remote.over()
                        + "; is the machine overloaded?");
            }
        }
    }

    private Sample print(Sample sample) {
        searches += sample.searches();
        failed += sample.failed();
        out.printf(Locale.ROOT, "%5.1f s  %s%n", (System.nanoTime() - start) / 1e9, sample.row());
        out.flush();
        return sample;
    }
}
