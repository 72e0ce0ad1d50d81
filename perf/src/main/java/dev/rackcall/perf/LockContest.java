package dev.rackcall.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/**
 * One point of the lock-table benchmark of ALock's paper: keys spread evenly over nodes, empty critical sections, so many per cent of each thread's keys on its own node,
 * each thread with keys of its own. Nodes are software devices of this process; all threads share its processors.
 *
 * @param kind of lock
 * @param locality per cent of keys on the own node
 * @param locks of all nodes together
 * @param threads of each node
 */
record LockContest(String kind, int locality, int locks, int threads) {
    static final String LOCALITY = "locality";

    private static final int NODES = 3;
    private static final List<Integer> LOCALITIES = List.of(100, 95, 90, 85);
    /** What a request takes while all threads send some: all of them to other nodes, or all of them to their own. */
    private static final List<Integer> ALL_OR_NOTHING = List.of(0, 100);

    private static final List<Integer> TABLES = List.of(20, 100, 1000);
    static final int FEW_THREADS = 2;
    /** The paper's other numbers of threads, for the locality that its claim is about. */
    private static final List<Integer> MANY_THREADS = List.of(4, 8, 12);

    private static final int CLAIMED_LOCALITY = 95;
    private static final int KEYS = 1 << 16;
    /** One of so many latencies is taken: two looks at the clock cost as much as a local lock. */
    private static final int SAMPLE = 64;

    /** All that are measured, those of different kinds that are to be compared beside each other. */
    static List<LockContest> all(List<String> kinds) {
        List<LockContest> all = new ArrayList<>();
        for (int locality : ALL_OR_NOTHING) {
            all.add(new LockContest(LockTarget.VERB, locality, TABLES.getLast(), FEW_THREADS));
        }
        for (int locks : TABLES) {
            for (int locality : LOCALITIES) {
                kinds.forEach(kind -> all.add(new LockContest(kind, locality, locks, FEW_THREADS)));
                if (locality == CLAIMED_LOCALITY) {
                    all.add(new LockContest(LockTarget.WAITING, locality, locks, FEW_THREADS));
                }
            }
        }
        for (int threads : MANY_THREADS) {
            for (int locks : TABLES) {
                kinds.forEach(kind -> all.add(new LockContest(kind, CLAIMED_LOCALITY, locks, threads)));
            }
        }
        return all;
    }

    static LockContest warmUp(String kind) {
        return new LockContest(kind, LOCALITIES.getLast(), TABLES.getFirst(), FEW_THREADS);
    }

    String name() {
        return kind + "-" + locality + "-" + locks + (threads == FEW_THREADS ? "" : "-" + threads);
    }

    Result measure(Function<LockUser.Place, LockUser> user, long nanos) {
        int perNode = (locks + NODES - 1) / NODES;
        List<LockNode> nodes = new ArrayList<>();
        try (ExecutorService running = Executors.newFixedThreadPool(NODES * threads)) {
            for (int i = 0; i < NODES; i++) {
                nodes.add(new LockNode(perNode, NODES * threads, threads));
            }
            CyclicBarrier start = new CyclicBarrier(NODES * threads);
            List<Future<LatencyRecorder>> recorders = new ArrayList<>();
            for (int i = 0; i < NODES * threads; i++) {
                LockUser.Place place =
                        new LockUser.Place(nodes, nodes.get(i / threads), i / threads, i % threads, threads);
                LockUser one = user.apply(place);
                int[] keys = keys(NODES, place.node(), i);
                recorders.add(running.submit(() -> {
                    run(one, keys, NODES, nanos / 2, start, SAMPLE);
                    LatencyRecorder recorder = run(one, keys, NODES, nanos, start, SAMPLE);
                    one.end();
                    return recorder;
                }));
            }
            LatencyRecorder all = new LatencyRecorder();
            double operationsPerS = 0;
            for (Future<LatencyRecorder> future : recorders) {
                LatencyRecorder recorder = future.get();
                operationsPerS += recorder.measurement().opsPerS();
                all.add(recorder);
            }
            Measurement sum = all.measurement();
            return Result.of(
                            name(),
                            Target.ALOCK,
                            1,
                            0,
                            new Measurement(
                                    sum.p50Ns(),
                                    sum.p99Ns(),
                                    sum.p999Ns(),
                                    sum.minNs(),
                                    sum.maxNs(),
                                    sum.count(),
                                    operationsPerS))
                    .with(LOCALITY, locality)
                    .with("nodes", NODES)
                    .with("threads_per_node", threads);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure(name() + ": interrupted");
        } catch (ExecutionException e) {
            throw new BenchFailure(name() + ": " + e.getCause());
        } finally {
            nodes.forEach(LockNode::closePaths);
            nodes.forEach(LockNode::close);
        }
    }

    /** Of the own node with this probability, else of the other nodes; evenly among those. Key k lies on node k mod the number of nodes. */
    int[] keys(int nodes, int node, int seed) {
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

    /** One latency in {@code sample} is taken. */
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
