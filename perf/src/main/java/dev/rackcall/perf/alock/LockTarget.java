package dev.rackcall.perf.alock;

import dev.rackcall.lock.LockSession;
import dev.rackcall.lock.LockTable;
import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.LatencyRecorder;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
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

/** Measures the lock table ({@link LockContest}), and what one thread alone needs for each kind of lock. */
public final class LockTarget {
    static final String ALONE = "-uncontended";
    static final String FAR = "-remote";
    static final String LOOPBACK = "-loopback";
    /** No lock, but the operation of which all locks consist: one awaited compare-and-set by RDMA. */
    static final String VERB = "verb";
    /** ALock with unlocks that are waited for. */
    static final String WAITING = "alock-waiting";
    /** A single thread, with each kind of lock. ALock has no loopback, because it needs none. */
    private static final List<String> REMOTE = List.of(
            VERB + FAR,
            VERB + LOOPBACK,
            "alock" + FAR,
            WAITING + FAR,
            "spin" + FAR,
            "spin" + LOOPBACK,
            "mcs" + FAR,
            "mcs" + LOOPBACK);

    static final Map<String, Function<LockUser.Place, LockUser>> KINDS = Map.of(
            "alock",
            place -> LockUser.alock(place, false),
            "spin",
            LockUser::spin,
            "mcs",
            LockUser.Mcs::new,
            WAITING,
            place -> LockUser.alock(place, true),
            VERB,
            LockUser::verb);
    private static final int ALONE_OPERATIONS = 2000;

    private final BenchPlan plan;

    /** Measures what the plan names. */
    public LockTarget(BenchPlan plan) {
        this.plan = plan;
    }

    /** Medians over the repeats, and for ALock the comparisons. */
    public List<Result> measure() {
        Map<String, List<Result>> runs = new LinkedHashMap<>();
        for (int repeat = 0; repeat < plan.repeat(); repeat++) {
            for (Result result : once()) {
                runs.computeIfAbsent(result.name(), name -> new ArrayList<>()).add(result);
            }
        }
        List<Result> medians = runs.values().stream().map(Result::medianOf).toList();
        return new LockComparison(medians).compared();
    }

    /** The names of all results that it can measure. */
    public static List<String> names() {
        List<String> names = new ArrayList<>(List.of("alock" + ALONE, "reentrantlock" + ALONE));
        names.addAll(REMOTE);
        LockContest.all().forEach(contest -> names.add(contest.name()));
        return names;
    }

    private List<Result> once() {
        List<Result> results = new ArrayList<>(alone());
        List<LockContest> contests = LockContest.all().stream()
                .filter(contest -> plan.measuresLock(contest.name()))
                .toList();
        contests.stream().map(LockContest::kind).distinct().forEach(kind -> {
            // Otherwise the first contest would be measured while its code is compiled.
            plan.say("alock: warm-up of " + kind);
            LockContest.warmUp(kind).measure(plan.warmUpNanos());
        });
        for (LockContest contest : contests) {
            plan.say("alock: " + contest.name());
            results.add(contest.measure(plan.durationNanos()));
        }
        REMOTE.stream().filter(plan::measuresLock).forEach(name -> results.add(reach(name)));
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
            // All are warmed up before the first measurement, because they share the compiled code.
            locks.values().forEach(lock -> alone(lock, plan.warmUpNanos() / 2));
            locks.forEach((name, lock) -> {
                plan.say("alock: " + name);
                Measurement batches = alone(lock, plan.durationNanos());
                results.add(Result.of(name, BenchTarget.ALOCK, 1, 0, batches.dividedBy(ALONE_OPERATIONS))
                        .with("ns_per_op", (double) batches.p50Ns() / ALONE_OPERATIONS));
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
            return Result.of(name, BenchTarget.ALOCK, 1, 0, measurement);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure(name + ": interrupted");
        } catch (BrokenBarrierException e) {
            throw new BenchFailure(name + ": " + e);
        } finally {
            LockNode.closeAll(nodes);
        }
    }

    /** Batches of {@link #ALONE_OPERATIONS}. */
    @SuppressWarnings("LockNotBeforeTry")
    private static Measurement alone(Lock lock, long nanos) {
        LatencyRecorder recorder = new LatencyRecorder();
        long end = System.nanoTime() + nanos;
        do {
            long start = System.nanoTime();
            for (int i = 0; i < ALONE_OPERATIONS; i++) {
                lock.lock();
                lock.unlock();
            }
            long took = System.nanoTime() - start;
            recorder.record(took);
            recorder.add(1, took);
        } while (System.nanoTime() - end < 0);
        return recorder.measurement();
    }
}
