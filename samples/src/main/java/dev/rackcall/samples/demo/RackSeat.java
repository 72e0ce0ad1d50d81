package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.Child.Order;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A host of the rack demo, as seen by the demo that has started its process. Used by one thread. */
public final class RackSeat implements AutoCloseable {
    /** Any port of this machine. */
    public static final URI ANY_PORT = URI.create("rdma://127.0.0.1:0");

    private final ChildProcess child;
    private final Runnable whenClosed;

    private RackSeat(ChildProcess child, Runnable whenClosed) {
        this.child = child;
        this.whenClosed = whenClosed;
    }

    /** The kinds of hosts. */
    public enum Role {
        /** Serves the store. */
        SERVE,
        /** Puts all documents into the store, then searches. */
        FILL_AND_SEARCH,
        SEARCH
    }

    /**
     * A host.
     *
     * @param directory in which hosts find each other
     * @param listen where it serves clients that share no memory with it
     * @param pool memory that it shares with other machines; empty if its runtime folder stands for its memory
     * @param meta the address of the control plane's meta server, for an agent in the host's process. If it is empty,
     *     the host uses the machine's agent process, if there is one with its name. Without an agent there are no
     *     virtual queues, and each connection has a queue pair of its own
     * @param count documents in the store
     * @param seed of the documents and searches
     */
    public record Host(
            Role role,
            String name,
            URI directory,
            URI listen,
            Optional<Device> pool,
            Optional<String> meta,
            int count,
            long seed) {}

    /**
     * A device that is the memory of several machines.
     *
     * @param number of the machine among them
     */
    public record Device(Path path, int number) {}

    /**
     * What a host's process gets: {@code workplace} is the folder of the whole demo, which the process removes if the
     * demo has died.
     */
    record Setup(Path workplace, Path runtime, Host host) {}

    /**
     * A host's searches since its last sample.
     *
     * @param server the host that serves this one
     * @param over the route's kind
     * @param memory whether that route is memory
     * @param queues whether it is virtual queues
     * @param searches with the expected result
     * @param failed searches that failed or found nothing
     * @param problem how the last failed search ended
     */
    public record Sample(
            String host,
            String server,
            String over,
            boolean memory,
            boolean queues,
            long searches,
            long failed,
            String problem,
            long p50Nanos,
            long p99Nanos,
            double seconds) {
        /** Whether the channel has found its best route: every host of the demo has an agent with virtual queues. */
        boolean isSettled() {
            return memory || queues;
        }

        /** A row of a table. */
        public String row() {
            return String.format(
                    Locale.ROOT,
                    "%-8s  %-8s  %-24s %,12.0f %7.1f us %7.1f us%s",
                    host,
                    server,
                    over,
                    searches / seconds,
                    p50Nanos / 1e3,
                    p99Nanos / 1e3,
                    failed == 0 ? "" : "  " + failed + " failed: " + problem);
        }
    }

    /** Starts a host that is alone on its machine; returns when it is ready. */
    public static RackSeat start(Host host) {
        Workplace workplace = Workplace.create();
        try {
            Path folder = workplace.directory();
            return start(new Setup(folder, folder.resolve("runtime"), host), workplace, workplace::close);
        } catch (RuntimeException e) {
            workplace.close();
            throw e;
        }
    }

    /** Starts a host with others in one workplace; returns when it is ready. */
    static RackSeat start(Setup setup, Workplace workplace, Runnable whenClosed) {
        ChildProcess child = new ChildProcess(setup.host().name(), RackHost.class, List.of(), setup, workplace);
        try {
            child.awaitDone(() -> {});
            return new RackSeat(child, whenClosed);
        } catch (RuntimeException e) {
            child.close();
            throw e;
        }
    }

    /** Waits for the next sample of a host that searches. */
    public Sample sample() {
        return child.await(Sample.class, () -> {});
    }

    /** Removes the machine's pool, so its calls use another route. A sample in progress is completed first. */
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
        whenClosed.run();
    }
}
