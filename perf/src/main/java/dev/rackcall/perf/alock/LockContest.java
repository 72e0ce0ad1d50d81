package dev.rackcall.perf.alock;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.LatencyRecorder;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * One point of the lock-table benchmark of ALock's paper: keys are spread evenly over nodes, critical sections are
 * empty, and each thread has its own keys, a given percentage of them on its own node. Nodes are software devices of
 * this process; all threads share its processors.
 *
 * @param kind of lock
 * @param locality per cent of keys on the thread's own node
 * @param locks of all nodes together
 * @param threads of each node
 */
record LockContest(String kind, int locality, int locks, int threads) {
    static final String LOCALITY = "locality";
    static final int FEW_THREADS = 2;
    private static final int NODES = 3;
    private static final List<Integer> LOCALITIES = List.of(100, 95, 90, 85);
    /**
     * Localities for the cost of a request while all threads send requests: all to other nodes, or all to their own.
     */
    private static final List<Integer> ALL_OR_NOTHING = List.of(0, 100);

    private static final List<Integer> TABLES = List.of(20, 100, 1000);
    /** The paper's other numbers of threads, for the locality that its claim is about. */
    private static final List<Integer> MANY_THREADS = List.of(4, 8, 12);

    private static final int CLAIMED_LOCALITY = 95;
    private static final int KEYS = 1 << 16;
    /** One in this many latencies is recorded: two readings of the clock cost as much as a local lock. */
    private static final int SAMPLE = 64;

    /** All points, those of different kinds next to each other. */
    static List<LockContest> all() {
        List<LockContest> all = new ArrayList<>();
        for (int locality : ALL_OR_NOTHING) {
            all.add(new LockContest(LockTarget.VERB, locality, TABLES.getLast(), FEW_THREADS));
        }
        for (int locks : TABLES) {
            for (int locality : LOCALITIES) {
                addKinds(all, locality, locks, FEW_THREADS);
                if (locality == CLAIMED_LOCALITY) {
                    all.add(new LockContest(LockTarget.WAITING, locality, locks, FEW_THREADS));
                }
            }
        }
        MANY_THREADS.forEach(threads -> TABLES.forEach(locks -> addKinds(all, CLAIMED_LOCALITY, locks, threads)));
        return all;
    }

    private static void addKinds(List<LockContest> all, int locality, int locks, int threads) {
        List.of("alock", "spin", "mcs").forEach(kind -> all.add(new LockContest(kind, locality, locks, threads)));
    }

    static LockContest warmUp(String kind) {
        return new LockContest(kind, LOCALITIES.getLast(), TABLES.getFirst(), FEW_THREADS);
    }

    String name() {
        return kind + "-" + locality + "-" + locks + (threads == FEW_THREADS ? "" : "-" + threads);
    }

    Result measure(long nanos) {
        List<LockNode> nodes = new ArrayList<>();
        try {
            for (int i = 0; i < NODES; i++) {
                nodes.add(newNode(NODES));
            }
            Measurement measured = measure(nodes, nodes, nanos, SAMPLE, () -> {});
            return Result.of(name(), BenchTarget.ALOCK, 1, 0, measured)
                    .with(LOCALITY, locality)
                    .with("nodes", NODES)
                    .with("threads_per_node", threads);
        } finally {
            LockNode.closeAll(nodes);
        }
    }

    /** A node for this contest among so many. */
    LockNode newNode(int nodes) {
        return new LockNode((locks + nodes - 1) / nodes, nodes * threads, threads);
    }

    /**
     * Runs the threads of the nodes that are in this process, {@code own}, against the locks of all nodes.
     *
     * @param sample one latency in this many is recorded
     * @param ready runs when all threads are prepared
     */
    Measurement measure(List<? extends LockSite> nodes, List<LockNode> own, long nanos, int sample, Runnable ready) {
        List<LockUser> users = new ArrayList<>();
        List<int[]> keys = new ArrayList<>();
        for (LockNode node : own) {
            int number = nodes.indexOf(node);
            for (int thread = 0; thread < threads; thread++) {
                users.add(LockTarget.KINDS.get(kind).apply(new LockUser.Place(nodes, node, number, thread, threads)));
                keys.add(keys(nodes.size(), number, number * threads + thread));
            }
        }
        ready.run();
        CyclicBarrier start = new CyclicBarrier(users.size());
        try (ExecutorService running = Executors.newFixedThreadPool(users.size())) {
            List<Future<LatencyRecorder>> recorders = new ArrayList<>();
            for (int i = 0; i < users.size(); i++) {
                LockUser user = users.get(i);
                int[] ownKeys = keys.get(i);
                recorders.add(running.submit(() -> {
                    run(user, ownKeys, nodes.size(), nanos / 2, start, sample);
                    LatencyRecorder recorder = run(user, ownKeys, nodes.size(), nanos, start, sample);
                    user.end();
                    return recorder;
                }));
            }
            LatencyRecorder all = new LatencyRecorder();
            double operationsPerS = 0;
            for (Future<LatencyRecorder> future : recorders) {
                operationsPerS += future.get().measurement().opsPerS();
                all.add(future.get());
            }
            return all.measurement(operationsPerS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure(name() + ": interrupted");
        } catch (ExecutionException e) {
            throw new BenchFailure(name() + ": " + e.getCause());
        }
    }

    /**
     * Keys of the thread's own node with the probability of the locality, otherwise evenly of the other nodes. Key k
     * lies on node k mod the number of nodes.
     */
    private int[] keys(int nodes, int node, int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int[] keys = new int[KEYS];
        for (int i = 0; i < KEYS; i++) {
            boolean local = random.nextInt(100) < locality;
            int key;
            do {
                key = random.nextInt(locks);
            } while ((key % nodes == node) != local);
            keys[i] = key;
        }
        return keys;
    }

    /** One thread's loop. One latency in {@code sample} is recorded. */
    static LatencyRecorder run(LockUser user, int[] keys, int nodes, long nanos, CyclicBarrier start, int sample)
            throws InterruptedException, BrokenBarrierException {
        LatencyRecorder recorder = new LatencyRecorder();
        start.await();
        long begin = System.nanoTime();
        long now = begin;
        long count = 0;
        while (now - begin < nanos) {
            int key = keys[(int) (count % keys.length)];
            user.lockAndUnlock(key % nodes, key / nodes);
            long after = System.nanoTime();
            recorder.record(after - now);
            for (int i = 1; i < sample; i++) {
                int next = keys[(int) ((count + i) % keys.length)];
                user.lockAndUnlock(next % nodes, next / nodes);
            }
            count += sample;
            now = System.nanoTime();
        }
        recorder.add(count, now - begin);
        return recorder;
    }
}
