package dev.rackcall.perf.alock;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.rdma.BenchDevice;
import dev.rackcall.perf.result.Measurement;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The lock-table benchmark of {@link LockContest} on two hosts: each runs one of these, with a node, and both measure
 * the same names at the same time. It prints a line {@code LOCKS NAME OPERATIONS_A_SECOND P50_NS} for each, of this
 * host's threads.
 */
public final class LockHosts {
    private static final int NODES = 2;
    /** Every latency is recorded: a lock of the other host takes much longer than two readings of the clock. */
    private static final int SAMPLE = 1;

    private final int node;
    private final int port;
    private final InetSocketAddress peer;
    private final long nanos;

    private LockHosts(List<String> arguments) {
        node = Integer.parseInt(arguments.get(1));
        port = Integer.parseInt(arguments.get(2));
        peer = new InetSocketAddress(arguments.get(3), Integer.parseInt(arguments.get(4)));
        nanos = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(arguments.get(5)));
    }

    /**
     * {@code LockHosts DEVICE NODE PORT PEER_HOST PEER_PORT MILLIS NAME...}: node 0 or 1, its port, the other node's
     * host and port, the length of each measurement, and names such as alock-95-20. All are run once before the first
     * one counts.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        BenchDevice.use(Optional.of(args[0]));
        LockHosts host = new LockHosts(List.of(args));
        List<String> names = List.of(args).subList(6, args.length);
        for (String name : names) {
            // Otherwise the first would be measured while its code is compiled, in a guest for a good part of a minute.
            host.measure(name);
            System.out.println("WARM " + name);
        }
        for (String name : names) {
            Measurement measured = host.measure(name);
            System.out.printf("LOCKS %s %.0f %d%n", name, measured.opsPerS(), measured.p50Ns());
        }
        System.exit(0);
    }

    private Measurement measure(String name) throws IOException, InterruptedException {
        String[] words = name.split("-", 3);
        LockContest contest = new LockContest(
                words[0], Integer.parseInt(words[1]), Integer.parseInt(words[2]), LockContest.FEW_THREADS);
        try (LockNode own = contest.newNode(NODES);
                LockDoor door = new LockDoor(own, port);
                FarLockNode far = FarLockNode.dial(peer)) {
            List<LockSite> sites = node == 0 ? List.of(own, far) : List.of(far, own);
            Measurement measured = contest.measure(sites, List.of(own), nanos, SAMPLE, () -> meet(door, far));
            // Ensures that no host's locks disappear while the other still uses them.
            meet(door, far);
            own.closePaths();
            meet(door, far);
            return measured;
        }
    }

    private static void meet(LockDoor door, FarLockNode far) {
        try {
            far.report();
            door.await();
        } catch (IOException e) {
            throw new UncheckedIOException("the other node has ended", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted while it waits for the other node");
        }
    }
}
