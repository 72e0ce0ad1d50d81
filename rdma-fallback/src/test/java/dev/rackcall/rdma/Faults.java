package dev.rackcall.rdma;

import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Usage;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.soft.FaultPlan;
import dev.rackcall.verbs.soft.SoftOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * Faults of the device at one address of this host, and what connections leave in it. Keeps the device open until it is
 * closed.
 */
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
            return new Faults(plan, RdmaDevice.acquire(DeviceKind.BEST, InetAddress.ofLiteral(address)));
        } finally {
            RdmaSettings.softwareDevices(SoftOptions.local());
        }
    }

    /** Cuts the device's network connections. */
    public void cut() {
        plan.cutConnections();
    }

    /** Takes the device's port down, until {@link #portUp}. */
    public void portDown() {
        plan.portDown();
    }

    public void portUp() {
        plan.portUp();
    }

    /** Delays all requests that are posted from now on. */
    public void slow(Duration delay) {
        plan.latency(delay);
    }

    /** Loses the next completions of any kind. */
    public void loseCompletions(int count) {
        plan.loseCompletions(count);
    }

    /** Fails the queue pairs of all connections except those in a handshake, whose queue pairs cannot fail yet. */
    public void failQueuePairs() {
        List.copyOf(device.carriers()).stream()
                .map(PairCarrier::queuePair)
                .filter(queuePair -> queuePair.state() != QueuePairState.RESET)
                .forEach(Faults::fail);
    }

    private static void fail(QueuePair queuePair) {
        try {
            queuePair.toError();
        } catch (VerbsException e) {
            // Its connection may have been closed since its state was read.
            if (queuePair.state() != QueuePairState.RESET) {
                throw e;
            }
        }
    }

    /** Closes the TCP connections of all handshakes. */
    public void endSockets() {
        for (PairCarrier carrier : List.copyOf(device.carriers())) {
            try {
                carrier.socket().close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * Writes these bytes of one end's memory to the other end, whatever the protocol allows; returns when they have
     * arrived. Both ends of the only connection must be in this process.
     *
     * @param bytes 8-aligned, and unlike all else in that memory
     */
    public void overwrite(MemorySegment bytes) {
        // A connection of an earlier test may still be closing.
        Await.equal("ends of connections", 2, this::connections);
        List<PairCarrier> ends = List.copyOf(device.carriers());
        int mine = find(ends.getFirst().memory(), bytes) < 0 ? 1 : 0;
        PairCarrier sender = ends.get(mine);
        long offset = find(sender.memory(), bytes);
        MemorySegment there = ends.get(1 - mine).memory().asSlice(offset, bytes.byteSize());
        if (!sender.carry(offset, bytes.byteSize()) || !sender.flush()) {
            throw new AssertionError("the connection has ended");
        }
        Await.equal("the first byte that has not arrived", -1L, () -> there.mismatch(bytes));
    }

    /** An end's memory is mapped a second time by its user. Returns where in it these bytes are; -1 if nowhere. */
    private static long find(MemorySegment memory, MemorySegment bytes) {
        for (long at = 0; at <= memory.byteSize() - bytes.byteSize(); at += Long.BYTES) {
            if (MemorySegment.mismatch(memory, at, at + bytes.byteSize(), bytes, 0, bytes.byteSize()) < 0) {
                return at;
            }
        }
        return -1;
    }

    /**
     * Bytes of memory that travelled over the open connections, to and from clients of this host: pushed because they
     * had changed, or fetched.
     */
    public long moved() {
        RdmaDevice clients = RdmaDevice.acquire(DeviceKind.BEST, InetAddress.getLoopbackAddress());
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

    /** Includes devices that cannot be closed because a region or a queue pair is left in them. */
    public static int openDevices() {
        return RdmaDevice.open();
    }

    /** Pieces of connections' memory that this process still maps. */
    public static long mappings() {
        return Usage.mappings("memfd:rackcall");
    }

    @Override
    public void close() {
        device.release();
    }
}
