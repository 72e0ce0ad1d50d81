package dev.rackcall.perf;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The lock-table benchmark of {@link LockContest} on two hosts: each runs one of these, with a node, and both measure the same names at the same time. For each a line
 * {@code LOCKS NAME OPERATIONS_A_SECOND P50_NS}, of this host's threads.
 */
public final class LockHosts {
    private static final int NODES = 2;
    /** A lock of the other host takes long enough for two looks at the clock. */
    private static final int SAMPLE = 1;

    private final int node;
    private final int port;
    private final InetSocketAddress peer;
    private final long nanos;

    private LockHosts(int node, int port, InetSocketAddress peer, long nanos) {
        this.node = node;
        this.port = port;
        this.peer = peer;
        this.nanos = nanos;
    }

    /**
     * {@code LockHosts DEVICE NODE PORT PEER_HOST PEER_PORT MILLIS NAME...}: node 0 or 1, its port, where the other one's is, how long each measurement takes, and names such as alock-95-20. All are
     * run once before one counts.
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        BenchDevice.use(Optional.of(args[0]));
        InetSocketAddress peer = new InetSocketAddress(args[3], Integer.parseInt(args[4]));
        LockHosts host = new LockHosts(
                Integer.parseInt(args[1]),
                Integer.parseInt(args[2]),
                peer,
                TimeUnit.MILLISECONDS.toNanos(Long.parseLong(args[5])));
        List<String> names = List.of(args).subList(6, args.length);
        for (String name : names) {
            // Whoever is measured first would be measured while it is compiled, in a guest for a good part of a minute.
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
        int threads = contest.threads();
        try (LockNode own = new LockNode((contest.locks() + NODES - 1) / NODES, NODES * threads, threads);
                LockDoor door = LockDoor.open(own, port);
                FarLockNode far = FarLockNode.dial(peer)) {
            List<LockHome> homes = node == 0 ? List.of(own, far) : List.of(far, own);
            List<LockUser> users = new ArrayList<>();
            List<int[]> keys = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                LockUser.Place place = new LockUser.Place(homes, own, node, thread, threads);
                users.add(LockTarget.KINDS.get(contest.kind()).apply(place));
                keys.add(contest.keys(NODES, node, place.number()));
            }
            meet(door, far);
            Measurement measured = run(users, keys);
            // Nobody's locks go while the other host still wants them.
            meet(door, far);
            own.closePaths();
            meet(door, far);
            return measured;
        }
    }

    private static void meet(LockDoor door, FarLockNode far) throws IOException, InterruptedException {
        far.tell();
        door.await();
    }

    private Measurement run(List<LockUser> users, List<int[]> keys) throws InterruptedException {
        CyclicBarrier start = new CyclicBarrier(users.size());
        LatencyRecorder all = new LatencyRecorder();
        double operationsPerS = 0;
        try (ExecutorService threads = Executors.newFixedThreadPool(users.size())) {
            List<Future<LatencyRecorder>> running = new ArrayList<>();
            for (int i = 0; i < users.size(); i++) {
                LockUser user = users.get(i);
                int[] own = keys.get(i);
                running.add(threads.submit(() -> {
                    LockContest.run(user, own, NODES, nanos / 2, start, SAMPLE);
                    LatencyRecorder recorder = LockContest.run(user, own, NODES, nanos, start, SAMPLE);
                    user.end();
                    return recorder;
                }));
            }
            for (Future<LatencyRecorder> one : running) {
                LatencyRecorder recorder = one.get();
                operationsPerS += recorder.measurement().opsPerS();
                all.add(recorder);
            }
        } catch (ExecutionException e) {
            throw new BenchFailure("a thread has failed: " + e.getCause());
        }
        Measurement sum = all.measurement();
        return new Measurement(
                sum.p50Ns(), sum.p99Ns(), sum.p999Ns(), sum.minNs(), sum.maxNs(), sum.count(), operationsPerS);
    }
}
