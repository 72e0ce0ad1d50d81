package dev.rackcall.perf;

import dev.rackcall.rdma.lock.LockSession;
import dev.rackcall.rdma.lock.LockTable;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * The lock-table benchmark of ALock's paper: keys spread evenly over nodes, empty critical sections, so many per cent of each thread's keys on its own node, each thread
 * with keys of its own. Nodes are software devices of this process; all threads of a measurement share its processors.
 */
final class LockTarget {
    private static final int NODES = 3;
    private static final int THREADS = 2;
    private static final List<Integer> LOCALITIES = List.of(100, 95, 90, 85);
    private static final List<Integer> TABLES = List.of(20, 100, 1000);
    static final String ALONE = "-uncontended";
    static final String FAR = "-remote";
    static final String LOOPBACK = "-loopback";
    static final String LOCALITY = "locality";

    /** One thread without others. ALock's has no loopback: it needs none. */
    private static final List<String> REMOTE =
            List.of("alock" + FAR, "spin" + FAR, "spin" + LOOPBACK, "mcs" + FAR, "mcs" + LOOPBACK);

    private static final Map<String, Function<LockUser.Place, LockUser>> KINDS = kinds();
    private static final int KEYS = 1 << 16;
    /** One of so many latencies is taken: two looks at the clock cost as much as a local lock. */
    private static final int SAMPLE = 64;

    private static final int ALONE_OPERATIONS = 2000;

    private final Plan plan;

    LockTarget(Plan plan) {
        this.plan = plan;
    }

    private static Map<String, Function<LockUser.Place, LockUser>> kinds() {
        Map<String, Function<LockUser.Place, LockUser>> kinds = new LinkedHashMap<>();
        kinds.put("alock", LockUser::alock);
        kinds.put("spin", LockUser::spin);
        kinds.put("mcs", LockUser::mcs);
        return kinds;
    }

    List<Result> measure() {
        Map<String, List<Result>> runs = new LinkedHashMap<>();
        for (int repeat = 0; repeat < plan.repeat(); repeat++) {
            for (Result result : once()) {
                runs.computeIfAbsent(result.name(), name -> new ArrayList<>()).add(result);
            }
        }
        List<Result> medians = runs.values().stream().map(Result::medianOf).toList();
        return new LockComparison(medians).compared();
    }

    /** All that it can measure. */
    static List<String> names() {
        List<String> names = new ArrayList<>(List.of("alock" + ALONE, "reentrantlock" + ALONE));
        names.addAll(REMOTE);
        for (int locks : TABLES) {
            for (int locality : LOCALITIES) {
                KINDS.keySet().forEach(kind -> names.add(kind + "-" + locality + "-" + locks));
            }
        }
        return names;
    }

    private List<Result> once() {
        List<Result> results = new ArrayList<>(alone());
        KINDS.forEach((kind, user) -> {
            String contests = kind + "-\\d+-\\d+";
            if (plan.locks().isEmpty() || plan.locks().stream().anyMatch(name -> name.matches(contests))) {
                // Whoever is measured first would be measured while it is compiled.
                contest(kind + "-warm-up", LOCALITIES.getLast(), TABLES.getFirst(), user, plan.warmUpNanos());
            }
        });
        for (int locks : TABLES) {
            for (int locality : LOCALITIES) {
                KINDS.forEach((kind, user) -> {
                    String name = kind + "-" + locality + "-" + locks;
                    if (plan.measuresLock(name)) {
                        results.add(contest(name, locality, locks, user, plan.durationNanos()));
                    }
                });
            }
        }
        for (String name : REMOTE) {
            if (plan.measuresLock(name)) {
                results.add(reach(name));
            }
        }
        return results;
    }

    private List<Result> alone() {
        List<Result> results = new ArrayList<>();
        try (LockSession session = LockTable.create(Arena.ofAuto().allocate(LockTable.bytes(1, 1), 64), 1, 1)
                .localSession(1)) {
            Map<String, Lock> locks = new LinkedHashMap<>();
            locks.put("alock" + ALONE, session.lock(0));
            locks.put("reentrantlock" + ALONE, new ReentrantLock());
            locks.keySet().removeIf(name -> !plan.measuresLock(name));
            // All before one is measured: the compiled code is the same for all.
            locks.values().forEach(this::warmUp);
            locks.forEach((name, lock) -> {
                plan.say("alock: " + name);
                results.add(alone(name, lock));
            });
        }
        return results;
    }

    /** One thread that reaches one lock by RDMA, at its own node or another one. */
    private Result reach(String name) {
        plan.say("alock: " + name);
        List<LockNode> nodes = List.of(new LockNode(1, 1, 1), new LockNode(1, 1, 1));
        try {
            LockUser user = KINDS.get(name.substring(0, name.indexOf('-'))).apply(new LockUser.Place(nodes, 0, 0, 1));
            int[] keys = {name.endsWith(LOOPBACK) ? 0 : 1};
            CyclicBarrier start = new CyclicBarrier(1);
            run(user, keys, nodes.size(), plan.warmUpNanos(), start, 1);
            Measurement measurement = run(user, keys, nodes.size(), plan.durationNanos(), start, 1)
                    .measurement();
            user.end();
            return Result.of(name, Target.ALOCK, 1, 0, measurement);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure(name + ": interrupted");
        } catch (BrokenBarrierException e) {
            throw new BenchFailure(name + ": " + e);
        } finally {
            nodes.forEach(LockNode::closePaths);
            nodes.forEach(LockNode::close);
        }
    }

    private void warmUp(Lock lock) {
        long end = System.nanoTime() + plan.warmUpNanos() / 2;
        do {
            lockAlone(lock);
        } while (System.nanoTime() - end < 0);
    }

    private Result alone(String name, Lock lock) {
        LatencyRecorder recorder = new LatencyRecorder();
        long end = System.nanoTime() + plan.durationNanos();
        do {
            long took = lockAlone(lock);
            recorder.record(took);
            recorder.add(1, took);
        } while (System.nanoTime() - end < 0);
        Measurement batches = recorder.measurement();
        return Result.of(name, Target.ALOCK, 1, 0, batches.dividedBy(ALONE_OPERATIONS))
                .with("ns_per_op", (double) batches.p50Ns() / ALONE_OPERATIONS);
    }

    @SuppressWarnings("LockNotBeforeTry")
    private static long lockAlone(Lock lock) {
        long start = System.nanoTime();
        for (int i = 0; i < ALONE_OPERATIONS; i++) {
            lock.lock();
            lock.unlock();
        }
        return System.nanoTime() - start;
    }

    private Result contest(String name, int locality, int locks, Function<LockUser.Place, LockUser> kind, long nanos) {
        plan.say("alock: " + name);
        int perNode = (locks + NODES - 1) / NODES;
        List<LockNode> nodes = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(NODES * THREADS)) {
            for (int i = 0; i < NODES; i++) {
                nodes.add(new LockNode(perNode, NODES * THREADS, THREADS));
            }
            CyclicBarrier start = new CyclicBarrier(NODES * THREADS);
            List<Future<LatencyRecorder>> running = new ArrayList<>();
            for (int i = 0; i < NODES * THREADS; i++) {
                LockUser.Place place = new LockUser.Place(nodes, i / THREADS, i % THREADS, THREADS);
                LockUser user = kind.apply(place);
                int[] keys = keys(place, locality, locks, i);
                running.add(threads.submit(() -> {
                    run(user, keys, NODES, nanos / 2, start, SAMPLE);
                    LatencyRecorder recorder = run(user, keys, NODES, nanos, start, SAMPLE);
                    user.end();
                    return recorder;
                }));
            }
            LatencyRecorder all = new LatencyRecorder();
            double operationsPerS = 0;
            for (Future<LatencyRecorder> one : running) {
                LatencyRecorder recorder = one.get();
                operationsPerS += recorder.measurement().opsPerS();
                all.add(recorder);
            }
            Measurement sum = all.measurement();
            return Result.of(
                            name,
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
                    .with("threads_per_node", THREADS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure(name + ": interrupted");
        } catch (ExecutionException e) {
            throw new BenchFailure(name + ": " + e.getCause());
        } finally {
            nodes.forEach(LockNode::closePaths);
            nodes.forEach(LockNode::close);
        }
    }

    /** Of the own node with this probability, else of the other nodes; evenly among those. Key k lies on node k mod the number of nodes. */
    private static int[] keys(LockUser.Place place, int locality, int locks, int seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int[] keys = new int[KEYS];
        for (int i = 0; i < KEYS; i++) {
            boolean local = random.nextInt(100) < locality;
            int key;
            do {
                key = random.nextInt(locks);
            } while ((key % NODES == place.node()) != local);
            keys[i] = key;
        }
        return keys;
    }

    private static LatencyRecorder run(
            LockUser user, int[] keys, int nodes, long nanos, CyclicBarrier start, int sample)
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
