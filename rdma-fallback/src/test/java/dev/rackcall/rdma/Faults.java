package dev.rackcall.rdma;

import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.soft.FaultPlan;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** What goes wrong with the device at one address of this host, and what is left of it. Keeps the device open until it is closed. */
public final class Faults implements AutoCloseable {
    private final FaultPlan plan;
    private final RdmaDevice device;

    private Faults(FaultPlan plan, RdmaDevice device) {
        this.plan = plan;
        this.device = device;
    }

    public static Faults at(String address, long seed) {
        FaultPlan plan = FaultPlan.withSeed(seed);
        RdmaSettings.softwareDevices(SoftOptions.local().withFaults(plan));
        try {
            return new Faults(plan, RdmaDevice.acquire(InetAddress.ofLiteral(address)));
        } finally {
            RdmaSettings.softwareDevices(SoftOptions.local());
        }
    }

    /** The device's network. */
    public void cut() {
        plan.cutConnections();
    }

    /** The device's port, until {@link #portUp}. */
    public void portDown() {
        plan.portDown();
    }

    public void portUp() {
        plan.portUp();
    }

    /** From now on whatever is posted sets out so much later. */
    public void slow(Duration delay) {
        plan.latency(delay);
    }

    /** The next completions, of whatever. */
    public void loseCompletions(int count) {
        plan.loseCompletions(count);
    }

    /** The queue pairs of all connections but those that are just being made: a queue pair that is not connected cannot fail. */
    public void failQueuePairs() {
        List.copyOf(device.carriers()).stream()
                .map(RdmaCarrier::queuePair)
                .filter(queuePair -> queuePair.state() != QueuePairState.RESET)
                .forEach(QueuePair::toError);
    }

    /** The TCP connections over which the ends have met. */
    public void endSockets() {
        for (RdmaCarrier carrier : List.copyOf(device.carriers())) {
            try {
                carrier.socket().close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Bytes of memory that have travelled over the connections that are open, to and from clients of this host: pushed because they had changed, or fetched. */
    public long moved() {
        RdmaDevice clients = RdmaDevice.acquire(InetAddress.getLoopbackAddress());
        try {
            return Stream.of(device, clients)
                    .distinct()
                    .flatMap(each -> each.carriers().stream())
                    .mapToLong(carrier -> carrier.carriedBytes() + carrier.fetchedBytes())
                    .sum();
        } finally {
            clients.release();
        }
    }

    public int connections() {
        return device.carriers().size();
    }

    public static int openDevices() {
        return RdmaDevice.open();
    }

    /** Pieces of connections' memory that this process still maps. */
    public static long mappings() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains("memfd:rackcall")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        device.release();
    }
}
