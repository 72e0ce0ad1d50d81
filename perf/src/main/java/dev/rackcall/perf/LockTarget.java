package dev.rackcall.perf;

import dev.rackcall.lock.LockSession;
import dev.rackcall.lock.LockTable;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/** The lock-table benchmark of ALock's paper ({@link LockContest}), and what one thread alone needs for each kind of lock. */
final class LockTarget {
    static final String ALONE = "-uncontended";
    static final String FAR = "-remote";
    static final String LOOPBACK = "-loopback";

    /** No lock, but what all of them consist of: one compare-and-set by RDMA that is waited for. */
    static final String VERB = "verb";

    /** ALock with unlocks that are waited for. */
    static final String WAITING = "alock-waiting";

    /** One thread without others. ALock's has no loopback: it needs none. */
    private static final List<String> REMOTE = List.of(
            VERB + FAR,
            VERB + LOOPBACK,
            "alock" + FAR,
            WAITING + FAR,
            "spin" + FAR,
            "spin" + LOOPBACK,
            "mcs" + FAR,
            "mcs" + LOOPBACK);

    static final Map<String, Function<LockUser.Place, LockUser>> KINDS = kinds();
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
        kinds.put(WAITING, LockUser::waitingAlock);
        kinds.put(VERB, LockUser::verb);
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
        contests().forEach(contest -> names.add(contest.name()));
        return names;
    }

    private static List<LockContest> contests() {
        return LockContest.all(KINDS.keySet().stream()
                .filter(kind -> !kind.equals(VERB) && !kind.equals(WAITING))
                .toList());
    }

    private List<Result> once() {
        List<Result> results = new ArrayList<>(alone());
        List<LockContest> contests = contests().stream()
                .filter(contest -> plan.measuresLock(contest.name()))
                .toList();
        contests.stream().map(LockContest::kind).distinct().forEach(kind -> {
            // Whoever is measured first would be measured while it is compiled.
            plan.say("alock: warm-up of " + kind);
            LockContest.warmUp(kind).measure(KINDS.get(kind), plan.warmUpNanos());
        });
        for (LockContest contest : contests) {
            plan.say("alock: " + contest.name());
            results.add(contest.measure(KINDS.get(contest.kind()), plan.durationNanos()));
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
            LockUser user = KINDS.get(name.substring(0, name.lastIndexOf('-')))
                    .apply(new LockUser.Place(nodes, nodes.getFirst(), 0, 0, 1));
            int[] keys = {name.endsWith(LOOPBACK) ? 0 : 1};
            CyclicBarrier start = new CyclicBarrier(1);
            LockContest.run(user, keys, nodes.size(), plan.warmUpNanos(), start, 1);
            Measurement measurement = LockContest.run(user, keys, nodes.size(), plan.durationNanos(), start, 1)
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
}
