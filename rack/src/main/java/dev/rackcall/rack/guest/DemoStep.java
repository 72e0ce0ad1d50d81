package dev.rackcall.rack.guest;

import dev.rackcall.samples.demo.RackSeat;
import dev.rackcall.samples.demo.RackSeat.Machine;
import dev.rackcall.samples.demo.RackSeat.Seen;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * {@code ./rackcall demo rack} with a kernel for each host: A serves the document store, B searches it through the pool, C over {@code rxe0}; they find each other by a directory that C keeps.
 * Then B has to do without the pool, and goes on over {@code rxe0}, too, until it has it back.
 */
final class DemoStep implements GuestStep {
    private static final Step STEP = Step.DEMO;
    private static final URI STORE = URI.create("rdma://10.77.0.1:18517");
    private static final String ZOOKEEPER = "org.apache.zookeeper.server.ZooKeeperServerMain";
    private static final int PORT = 2181;
    private static final String OPTIONS = "/demo?lease=40s&timeout=60s";
    private static final int DOCUMENTS = 200;
    /** So many samples in a row have to be as they should. */
    private static final int SAMPLES = 3;

    private static final int TRIES = 60;

    @Override
    public String run(Guest guest) throws IOException {
        return switch (guest.name()) {
            case "A" -> serve(guest);
            case "B" -> near(guest);
            default -> far(guest);
        };
    }

    private static Machine machine(Guest guest, boolean hasPool) {
        return new Machine(
                "host-" + guest.name().toLowerCase(Locale.ROOT),
                URI.create(guest.get(STEP, "directory")),
                hasPool ? Optional.of(Guest.DEVICE) : Optional.empty(),
                guest.number(),
                DOCUMENTS);
    }

    private static String serve(Guest guest) {
        try (RackSeat seat = RackSeat.serve(machine(guest, true), STORE)) {
            assert seat != null;
            guest.put(STEP, "serving", "");
            guest.get(STEP, "near");
            guest.get(STEP, "far");
        }
        guest.put(STEP, "left-A", "");
        return "served " + DOCUMENTS + " documents";
    }

    private static String near(Guest guest) {
        guest.get(STEP, "serving");
        StringBuilder told = new StringBuilder();
        try (RackSeat seat = RackSeat.search(machine(guest, true), true)) {
            guest.put(STEP, "filled", "");
            told.append(await(guest, seat, Seen::memory));
            seat.leaveMemory();
            told.append("; without the pool ")
                    .append(await(guest, seat, seen -> seen.over().equals("RDMA")));
            seat.takeMemory();
            told.append("; with it again ").append(await(guest, seat, Seen::memory));
        }
        guest.put(STEP, "near", "");
        return told.toString();
    }

    private static String far(Guest guest) throws IOException {
        Process directory = GuestJvm.start(
                        List.of("-Xmx96m", "-Dzookeeper.admin.enableServer=false"),
                        ZOOKEEPER,
                        List.of(
                                Integer.toString(PORT),
                                Files.createTempDirectory("zookeeper").toString()))
                .process();
        Thread.ofPlatform().daemon().start(() -> directory.inputReader().lines().forEach(line -> {}));
        try {
            Guest.await("ZooKeeper does not listen", () -> listens(guest.address()));
            guest.put(STEP, "directory", "zk://" + guest.address() + ":" + PORT + OPTIONS);
            guest.get(STEP, "filled");
            String told;
            try (RackSeat seat = RackSeat.search(machine(guest, false), false)) {
                told = await(guest, seat, seen -> seen.over().equals("RDMA"));
            }
            guest.put(STEP, "far", "");
            guest.get(STEP, "left-A");
            return told;
        } finally {
            directory.destroyForcibly();
        }
    }

    private static boolean listens(String host) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, PORT), 1000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Samples until some in a row are as they should, none of whose searches has failed; the last of them. */
    private static String await(Guest guest, RackSeat seat, Predicate<Seen> wanted) {
        int good = 0;
        for (int i = 0; i < TRIES; i++) {
            Seen seen = seat.sample();
            guest.note(seen.line());
            Guest.require(seen.failed() == 0, "searches failed: " + seen.line());
            good = wanted.test(seen) && seen.searches() > 0 ? good + 1 : 0;
            if (good == SAMPLES) {
                return seen.line();
            }
        }
        throw new IllegalStateException("calls do not take the way that they should; see the samples above");
    }
}
