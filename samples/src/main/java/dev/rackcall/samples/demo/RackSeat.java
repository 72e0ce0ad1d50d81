package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.DemoMessages.Order;
import dev.rackcall.samples.demo.RackHost.Role;
import dev.rackcall.samples.demo.RackHost.Setup;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/**
 * One host of the rack demo on a machine of its own. It uses virtual queues if the machine's agent process has the
 * host's name. Used by one thread.
 */
public final class RackSeat implements AutoCloseable {
    private static final URI NOWHERE = URI.create("rdma://127.0.0.1:0");

    private final Workplace workplace;
    private final ChildProcess child;

    private RackSeat(Workplace workplace, ChildProcess child) {
        this.workplace = workplace;
        this.child = child;
    }

    /**
     * A machine.
     *
     * @param host its name
     * @param directory by which hosts find each other
     * @param pool a device that is its memory and other machines'; empty if it has none
     * @param number of the machine among those that share the device
     * @param count documents in the store
     */
    public record Machine(String host, URI directory, Optional<Path> pool, int number, int count) {}

    /**
     * A host's searches since its last sample.
     *
     * @param over the route's kind
     * @param memory whether that is memory
     * @param searches that found what they had to find
     * @param failed searches that failed or found nothing
     * @param line for people
     */
    public record Seen(String over, boolean memory, long searches, long failed, String line) {}

    /**
     * Serves the store from {@code machine}, and at {@code listen} for clients that share no memory with it; returns
     * when it is ready.
     */
    public static RackSeat serve(Machine machine, URI listen) {
        return start(Role.SERVE, machine, listen);
    }

    /** Searches the store; the first client also fills it. Returns when it is ready. */
    public static RackSeat search(Machine machine, boolean fills) {
        return start(fills ? Role.FILL_AND_SEARCH : Role.SEARCH, machine, NOWHERE);
    }

    private static RackSeat start(Role role, Machine machine, URI listen) {
        Workplace workplace = Workplace.create();
        try {
            Setup setup = new Setup(
                    role,
                    machine.host(),
                    workplace.directory(),
                    workplace.directory().resolve("runtime"),
                    machine.directory(),
                    machine.pool().map(path -> new RackHost.Device(path, machine.number())),
                    listen,
                    Optional.empty(),
                    machine.count(),
                    1);
            RackSeat seat =
                    new RackSeat(workplace, ChildProcess.start(machine.host(), RackHost.class, setup, workplace));
            seat.child.awaitReady(() -> {});
            return seat;
        } catch (RuntimeException e) {
            workplace.close();
            throw e;
        }
    }

    /** Waits for the next sample of a host that searches. */
    public Seen sample() {
        RackHost.Sample sample = child.await(RackHost.Sample.class, () -> {});
        return new Seen(
                sample.over(),
                sample.memory(),
                sample.searches(),
                sample.failed(),
                "%s to %s over %s: %.0f searches/s, p50 %.0f us, p99 %.0f us%s"
                        .formatted(
                                sample.host(),
                                sample.server(),
                                sample.over(),
                                sample.searches() / sample.seconds(),
                                sample.p50Nanos() / 1e3,
                                sample.p99Nanos() / 1e3,
                                sample.failed() == 0 ? "" : "; " + sample.failed() + " failed: " + sample.problem()));
    }

    /** Removes the machine's pool: its calls use another route. A sample in progress comes first. */
    public void leaveMemory() {
        child.order(Order.LEAVE_MEMORY);
    }

    /** Gives the machine its pool again. */
    public void takeMemory() {
        child.order(Order.TAKE_MEMORY);
    }

    @Override
    public void close() {
        child.close();
        workplace.close();
    }
}
