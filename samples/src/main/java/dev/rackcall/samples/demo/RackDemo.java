package dev.rackcall.samples.demo;

import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.samples.demo.RackHost.Role;
import dev.rackcall.samples.demo.RackHost.Sample;
import dev.rackcall.samples.demo.RackHost.Setup;
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

/**
 * Three hosts in two racks. The memory of rack 1 is host-a's runtime directory, which host-b sees through a link of its
 * own. Removing the link takes the memory away from host-b alone.
 */
public final class RackDemo {
    /** How long an overloaded machine may take to notice a change. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final int MAX_HOSTS = 16;
    /** Longer than the demo: it ends its hosts itself, and a slow machine must not lose one. */
    private static final Duration LEASE = Duration.ofMinutes(10);

    private static final URI ANY_PORT = URI.create("rdma://127.0.0.1:0");

    private final Plan plan;
    private final PrintWriter out;
    private final Workplace workplace;
    private final URI directory;
    private final long start = System.nanoTime();
    private long searches;
    private long failed;

    private RackDemo(Plan plan, PrintWriter out, Workplace workplace) {
        this.plan = plan;
        this.out = out;
        this.workplace = workplace;
        this.directory = plan.directory().orElseGet(() -> folder("members").toUri());
    }

    /**
     * The settings of the demo.
     *
     * @param directory in which the hosts find each other; a folder of the demo's own if empty
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
                RackNames names = RackNames.open(demo.directory)) {
            demo.show();
            left.addAll(names.leftBehind(out));
        } catch (IOException e) {
            throw new DemoException("the demo's folder cannot be used: " + e, e);
        }
        left.addAll(workplace.leftBehind());
        out.printf(Locale.ROOT, "%n%,d searches, %,d failed. ", demo.searches, demo.failed);
        out.println(left.isEmpty() ? "Nothing is left behind." : "Left behind: " + left);
        return demo.failed == 0 && left.isEmpty();
    }

    private Path folder(String name) {
        return workplace.directory().resolve(name);
    }

    private Setup setup(MetaServer meta, Role role, String host, Path runtime) {
        return new Setup(
                role,
                host,
                workplace.directory(),
                runtime,
                directory,
                Optional.empty(),
                ANY_PORT,
                Optional.of(meta.address().toString()),
                plan.count(),
                plan.seed());
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
                ChildProcess server = ready(setup(meta, Role.SERVE, "host-a", memory));
                ChildProcess near = ready(setup(meta, Role.FILL_AND_SEARCH, "host-b", view));
                ChildProcess far = ready(setup(meta, Role.SEARCH, "host-c", folder("rack-2")))) {
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

    private ChildProcess ready(Setup setup) {
        ChildProcess child = ChildProcess.start(setup.host(), RackHost.class, setup, workplace);
        try {
            child.awaitReady(() -> {});
            return child;
        } catch (RuntimeException e) {
            child.close();
            throw e;
        }
    }

    /** One part: prints samples for its duration, and until host-b uses the expected route. */
    private void watch(ChildProcess near, ChildProcess far, String what, Predicate<Sample> expected) {
        if (!what.isEmpty()) {
            out.printf("%n         %s%n", what);
        }
        long begin = System.nanoTime();
        List<Sample> last = new ArrayList<>();
        while (true) {
            last.clear();
            last.add(near.await(Sample.class, () -> {}));
            last.add(far.await(Sample.class, () -> {}));
            last.forEach(this::print);
            long nanos = System.nanoTime() - begin;
            boolean asExpected = expected.test(last.getFirst())
                    && !last.getLast().memory()
                    && last.stream().allMatch(sample -> sample.searches() > 0);
            if (asExpected && nanos >= plan.part().toNanos()) {
                return;
            }
            if (nanos > plan.part().plus(PATIENCE).toNanos()) {
                throw new DemoException(
                        "host-b still talks over " + last.getFirst().over() + ", host-c over "
                                + last.getLast().over() + "; is the machine overloaded?");
            }
        }
    }

    private void print(Sample sample) {
        searches += sample.searches();
        failed += sample.failed();
        out.printf(
                Locale.ROOT,
                "%5.1f s  %-8s  %-8s  %-24s %,12.0f %7.1f us %7.1f us%s%n",
                (System.nanoTime() - start) / 1e9,
                sample.host(),
                sample.server(),
                sample.over(),
                sample.searches() / sample.seconds(),
                sample.p50Nanos() / 1e3,
                sample.p99Nanos() / 1e3,
                sample.failed() == 0 ? "" : "  " + sample.failed() + " failed: " + sample.problem());
        out.flush();
    }
}
