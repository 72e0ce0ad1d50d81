package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.DemoMessages.Order;
import dev.rackcall.samples.demo.RackHost.Role;
import dev.rackcall.samples.demo.RackHost.Setup;
import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/**
 * One host of the rack demo on a machine of its own: a process that serves the store or searches it, as {@link RackDemo} starts them all on one machine; over virtual queues if the machine has an agent process, which is
 * called as the host is. One thread.
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
     * @param host what it is called
     * @param directory by which hosts find each other
     * @param pool a device that is its memory and other machines'; empty if it has none
     * @param number of the machine among those that share the device
     * @param count documents in the store
     */
    public record Machine(String host, URI directory, Optional<Path> pool, int number, int count) {}

    /**
     * What a host has done since its last sample.
     *
     * @param over by which way
     * @param memory whether that is memory
     * @param searches that found what they had to find
     * @param failed searches that failed or found nothing
     * @param line for people
     */
    public record Seen(String over, boolean memory, long searches, long failed, String line) {}

    /** Serves the store from {@code machine}, for those that share no memory with it at {@code listen}; returns when it does. */
    public static RackSeat serve(Machine machine, URI listen) {
        return start(Role.SERVE, machine, listen);
    }

    /** Searches the store; the first to do so also fills it. Returns when it begins to. */
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

    /** The machine does without its pool from now on: its calls take another way. A sample that was under way still comes first. */
    public void leaveMemory() {
        child.order(Order.LEAVE_MEMORY);
    }

    /** It uses its pool again. */
    public void takeMemory() {
        child.order(Order.TAKE_MEMORY);
    }

    @Override
    public void close() {
        child.close();
        workplace.close();
    }
}
