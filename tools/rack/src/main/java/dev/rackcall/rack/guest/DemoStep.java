package dev.rackcall.rack.guest;

import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.samples.demo.RackSeat;
import dev.rackcall.samples.demo.RackSeat.Role;
import dev.rackcall.samples.demo.RackSeat.Sample;
import dev.rackcall.samples.documents.DocumentStore;
import dev.rackcall.verbs.Devices;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * {@code ./rackcall demo rack} with a kernel for each host, and on each an agent process: A serves the document store,
 * B searches it through the pool, C by virtual queues over {@code rxe0}; they find each other by a directory and a meta
 * server on C. Then B leaves the pool and searches by virtual queues, too, until it returns to the pool.
 */
final class DemoStep implements Guest.Work {
    private static final Step STEP = Step.DEMO;
    private static final URI STORE = URI.create("rdma://10.77.0.1:18517");
    private static final String ZOOKEEPER = "org.apache.zookeeper.server.ZooKeeperServerMain";
    private static final int PORT = 2181;
    private static final String OPTIONS = "/demo?lease=40s&timeout=60s";
    private static final int DOCUMENTS = 200;
    private static final String QUEUES = "virtual queues over RDMA";
    private static final int MAX_HOSTS = 16;
    /** Longer than the step: an overloaded machine must not lose a host. */
    private static final Duration LEASE = Duration.ofMinutes(10);

    /** How many consecutive samples must use the expected route. */
    private static final int SAMPLES = 3;

    private static final int QUESTIONS = 3;

    private static final Duration BOUND = Duration.ofMinutes(6);

    @Override
    public String run(Guest guest) throws IOException, InterruptedException {
        return switch (guest.name()) {
            case "A" -> serve(guest);
            case "B" -> near(guest);
            default -> far(guest);
        };
    }

    private static String host(Guest guest) {
        return "host-" + guest.name().toLowerCase(Locale.ROOT);
    }

    /** A host that reaches the others by the directory, and its own part in the control plane by its agent process. */
    private static RackSeat seat(Guest guest, Role role, boolean hasPool, URI listen) {
        Optional<RackSeat.Device> pool =
                hasPool ? Optional.of(new RackSeat.Device(Guest.DEVICE, guest.number())) : Optional.empty();
        URI directory = URI.create(guest.get(STEP, "directory"));
        return RackSeat.start(
                new RackSeat.Host(role, host(guest), directory, listen, pool, Optional.empty(), DOCUMENTS, 1));
    }

    /** The host's part in the control plane. Other programs of the guest find it by themselves. */
    private static AgentProcess agent(Guest guest) throws IOException {
        return AgentProcess.start(guest, host(guest), guest.get(STEP, "meta"));
    }

    private static String serve(Guest guest) throws IOException {
        try (AgentProcess agent = agent(guest)) {
            agent.awaitServing();
            try (RackSeat seat = seat(guest, Role.SERVE, true, STORE)) {
                assert seat != null;
                guest.put(STEP, "serving", "");
                guest.get(STEP, "near");
                guest.get(STEP, "far");
            }
        }
        guest.put(STEP, "left-A", "");
        return "served " + DOCUMENTS + " documents";
    }

    private static String near(Guest guest) throws IOException {
        StringBuilder summary = new StringBuilder();
        try (AgentProcess agent = agent(guest)) {
            agent.awaitServing();
            guest.get(STEP, "serving");
            try (RackSeat seat = seat(guest, Role.FILL_AND_SEARCH, true, RackSeat.ANY_PORT)) {
                guest.put(STEP, "filled", "");
                summary.append(await(guest, seat, Sample::memory));
                seat.leaveMemory();
                summary.append("; without the pool ")
                        .append(await(guest, seat, sample -> sample.over().equals(QUEUES)));
                seat.takeMemory();
                summary.append("; with it again ").append(await(guest, seat, Sample::memory));
            }
        }
        guest.put(STEP, "near", "");
        return summary.toString();
    }

    private static String far(Guest guest) throws IOException, InterruptedException {
        try (MetaServer meta = MetaServer.open(Devices.find(RdmaEnd.DEVICE), MAX_HOSTS, LEASE)) {
            guest.put(STEP, "meta", meta.address().toString());
            Process directory = directory();
            try {
                Guest.await("ZooKeeper does not listen", () -> listens(guest.address()));
                guest.put(STEP, "directory", "zk://" + guest.address() + ":" + PORT + OPTIONS);
                String summary = searchFromAfar(guest);
                guest.put(STEP, "far", "");
                guest.get(STEP, "left-A");
                return summary;
            } finally {
                directory.destroyForcibly();
            }
        }
    }

    private static String searchFromAfar(Guest guest) throws IOException, InterruptedException {
        try (AgentProcess agent = agent(guest)) {
            agent.awaitServing();
            guest.get(STEP, "serving");
            explain(guest);
            guest.get(STEP, "filled");
            try (RackSeat seat = seat(guest, Role.SEARCH, false, RackSeat.ANY_PORT)) {
                return await(guest, seat, sample -> sample.over().equals(QUEUES));
            }
        }
    }

    private static Process directory() throws IOException {
        Process directory = GuestJvm.start(
                        List.of("-Xmx96m", "-Dzookeeper.admin.enableServer=false"),
                        ZOOKEEPER,
                        List.of(
                                Integer.toString(PORT),
                                Files.createTempDirectory("zookeeper").toString()))
                .process();
        Thread.ofPlatform().daemon().start(() -> directory.inputReader().lines().forEach(line -> {}));
        return directory;
    }

    /**
     * Checks that {@code ./rackcall explain} names virtual queues. It tries for at most 5 s to join the agent, so it may
     * need several attempts.
     */
    private static void explain(Guest guest) throws IOException, InterruptedException {
        List<String> said = List.of();
        for (int i = 0; i < QUESTIONS; i++) {
            said = explanation(guest);
            if (said.stream().anyMatch(line -> line.strip().matches(QUEUES + " +used .*"))) {
                return;
            }
        }
        throw new IllegalStateException("explain does not say that calls go by virtual queues: " + said);
    }

    private static List<String> explanation(Guest guest) throws IOException, InterruptedException {
        List<String> lines = new ArrayList<>();
        int status = AgentProcess.command(
                        "explain",
                        DocumentStore.CHANNEL,
                        "--directory",
                        guest.get(STEP, "directory"),
                        "--host",
                        host(guest),
                        "--timeout",
                        "180")
                .await(BOUND, lines::add);
        return status == 0 ? lines : List.of("explain ended with status " + status);
    }

    private static boolean listens(String host) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, PORT), 1000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Waits until some samples in a row are as wanted, without a failed search; returns the last of them. */
    private static String await(Guest guest, RackSeat seat, Predicate<Sample> wanted) {
        int good = 0;
        // By time, not by samples: the faster the present route is, the sooner a number of samples has passed.
        long end = System.nanoTime() + Guest.BOUND.toNanos();
        while (System.nanoTime() - end < 0) {
            Sample sample = seat.sample();
            String row = sample.row().replaceAll(" +", " ");
            guest.note(row);
            Guest.require(sample.failed() == 0, "searches failed: " + row);
            good = wanted.test(sample) && sample.searches() > 0 ? good + 1 : 0;
            if (good == SAMPLES) {
                return row;
            }
        }
        throw new IllegalStateException("calls do not use the expected route; see the samples above");
    }
}
