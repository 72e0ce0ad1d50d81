package dev.rackcall.perf;

import dev.rackcall.rdma.lock.ALock;
import dev.rackcall.rdma.lock.LockSession;
import dev.rackcall.rdma.lock.LockTable;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
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
    private static final int KEYS = 1 << 16;
    /** One of so many latencies is taken: two looks at the clock cost as much as a local lock. */
    private static final int SAMPLE = 64;

    private static final int ALONE_OPERATIONS = 2000;

    private final Plan plan;

    LockTarget(Plan plan) {
        this.plan = plan;
    }

    List<Result> measure() {
        Map<String, List<Result>> runs = new LinkedHashMap<>();
        for (int repeat = 0; repeat < plan.repeat(); repeat++) {
            for (Result result : once()) {
                runs.computeIfAbsent(result.name(), name -> new ArrayList<>()).add(result);
            }
        }
        List<Result> medians = runs.values().stream().map(Result::medianOf).toList();
        return medians.stream().map(result -> compared(result, medians)).toList();
    }

    private List<Result> once() {
        List<Result> results = new ArrayList<>();
        plan.say("alock: uncontended");
        try (LockSession session = LockTable.create(Arena.ofAuto().allocate(LockTable.bytes(1, 1), 64), 1, 1)
                .localSession(1)) {
            ALock alock = session.lock(0);
            results.add(alone("alock-uncontended", alock));
            results.add(alone("reentrantlock-uncontended", new ReentrantLock()));
        }
        for (int locks : TABLES) {
            for (int locality : LOCALITIES) {
                String shape = "-" + locality + "-" + locks;
                results.add(contest("alock" + shape, locality, locks, LockUser::alock));
                results.add(contest("spin" + shape, locality, locks, LockUser::spin));
                results.add(contest("mcs" + shape, locality, locks, LockUser::mcs));
            }
        }
        return results;
    }

    /** How many times as many operations as the baselines, for an ALock result. */
    private static Result compared(Result result, List<Result> all) {
        Result compared = result;
        for (Result other : all) {
            int dash = other.name().indexOf('-');
            String kind = other.name().substring(0, dash);
            if (!kind.equals("alock")
                    && result.name().equals("alock" + other.name().substring(dash))) {
                compared = compared.with("x_" + kind, result.opsPerS() / other.opsPerS());
            }
        }
        return compared;
    }

    private Result alone(String name, Lock lock) {
        LatencyRecorder recorder = new LatencyRecorder();
        long end = System.nanoTime() + plan.warmUpNanos() / 2;
        do {
            lockAlone(lock);
        } while (System.nanoTime() - end < 0);
        end = System.nanoTime() + plan.durationNanos();
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

    private Result contest(String name, int locality, int locks, Function<LockUser.Place, LockUser> kind) {
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
                    run(user, keys, plan.durationNanos() / 2, start);
                    LatencyRecorder recorder = run(user, keys, plan.durationNanos(), start);
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

    private static LatencyRecorder run(LockUser user, int[] keys, long nanos, CyclicBarrier start) throws Exception {
        LatencyRecorder recorder = new LatencyRecorder();
        start.await();
        long begin = System.nanoTime();
        long now = begin;
        long count = 0;
        while (now - begin < nanos) {
            int key = keys[(int) (count % KEYS)];
            user.lockAndUnlock(key % NODES, key / NODES);
            long after = System.nanoTime();
            recorder.record(after - now);
            for (int i = 1; i < SAMPLE; i++) {
                int next = keys[(int) ((count + i) % KEYS)];
                user.lockAndUnlock(next % NODES, next / NODES);
            }
            count += SAMPLE;
            now = System.nanoTime();
        }
        recorder.add(count, now - begin);
        return recorder;
    }
}
