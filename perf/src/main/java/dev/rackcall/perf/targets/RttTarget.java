package dev.rackcall.perf.targets;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.HeapAllocation;
import dev.rackcall.perf.harness.MeasuredClient;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.SubjectPair;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/**
 * Round trips, one call in flight: closed loop, or at a fixed rate if the plan has one.
 *
 * <p>Subjects that spin, and those that are compared with them, take turns of a twentieth of the duration. On a virtual
 * machine, the host moves the virtual processors, so the time of a round trip through shared memory can double or halve
 * from one second to the next. With turns, all subjects meet the same mixture, and each can be compared with the raw
 * ping-pong of the same round.
 */
public final class RttTarget {
    /** Allocation is counted over calls of about this many seconds. */
    private static final double ALLOCATION_SECONDS = 0.1;

    private static final int LEAST_CALLS = 100;
    private static final int ROUNDS = 20;
    private static final int STARTERS = 2;
    /** Beside those with their floors. */
    private static final List<Comparison> COMPARISONS = List.of(
            new Comparison("rackcall-noop", "aeron-ipc", "aeron_ratio"),
            new Comparison("rackcall-value-4096", "raw-pingpong-4096", "raw_value_ratio"),
            new Comparison("rackcall-value-4096", "two-copies-4096", "copies_ratio"));

    /** Two subjects that take turns, and the name of the ratio of their times. */
    private record Comparison(String subject, String other, String figure) {}

    private final BenchTarget target;
    private final BenchPlan plan;
    private final Workspace workspace;
    private final Rounds rounds;

    /** Measures for a target that consists of round trips. */
    public RttTarget(BenchTarget target, BenchPlan plan, Workspace workspace, Rounds rounds) {
        this.target = target;
        this.plan = plan;
        this.workspace = workspace;
        this.rounds = rounds;
    }

    /** The subjects that the target measures: those that take turns together in a group, each of the others alone. */
    public static List<List<Subject>> groups(BenchTarget target, List<Subject> subjects) {
        List<Subject> own = subjects.stream()
                .filter(subject -> subject.isOf(target) && !subject.has(Subject.Trait.IDLES))
                .toList();
        List<List<Subject>> groups = new ArrayList<>(own.stream()
                .filter(Subject::takesTurns)
                .collect(Collectors.groupingBy(Subject::group, LinkedHashMap::new, Collectors.toList()))
                .values());
        own.stream().filter(subject -> !subject.takesTurns()).forEach(subject -> groups.add(List.of(subject)));
        return groups;
    }

    public List<Result> measure(List<Subject> group) {
        List<SubjectPair> pairs = new ArrayList<>();
        try {
            start(group, pairs);
            List<SubjectPair> warm = pairs.stream()
                    .filter(pair -> rounds.attempt(target, pair.subject(), () -> pair.warmUp(plan.warmUpNanos())))
                    .toList();
            return plan.rate().isPresent() && target != BenchTarget.THROUGHPUT
                    ? atRate(warm, plan.rate().getAsDouble())
                    : closedLoop(warm);
        } finally {
            pairs.forEach(SubjectPair::close);
        }
    }

    /**
     * Starts two pairs at a time: a JVM uses one processor while it starts, which takes about as long as a measurement.
     * No measurement runs yet.
     */
    private void start(List<Subject> group, List<SubjectPair> pairs) {
        try (ExecutorService starters = Executors.newFixedThreadPool(STARTERS)) {
            Map<Subject, Future<SubjectPair>> starting = new LinkedHashMap<>();
            for (Subject subject : group) {
                starting.put(
                        subject,
                        starters.submit(() -> SubjectPair.startPaused(subject, workspace.newPart(), plan.cores())));
            }
            // Also when the time is over: only the pairs of this list are closed.
            starting.forEach((subject, pair) -> rounds.finish(target, subject, () -> pairs.add(started(pair))));
        }
    }

    private static SubjectPair started(Future<SubjectPair> pair) {
        try {
            return pair.get();
        } catch (ExecutionException e) {
            throw new BenchFailure(
                    e.getCause() instanceof BenchFailure
                            ? e.getCause().getMessage()
                            : e.getCause().toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted while its processes were started");
        }
    }

    private List<Result> closedLoop(List<SubjectPair> pairs) {
        List<SubjectPair> good = new ArrayList<>(pairs);
        for (int round = 0; round < ROUNDS; round++) {
            good.removeIf(
                    pair -> !rounds.attempt(target, pair.subject(), () -> pair.slice(plan.durationNanos() / ROUNDS)));
        }
        List<Result> results = new ArrayList<>();
        for (SubjectPair pair : good) {
            rounds.attempt(target, pair.subject(), () -> {
                Result result = result(pair, pair.client().ask(MeasuredClient::result), "closed loop");
                Result compared = named(pair.subject().floor(), good)
                        .map(floor -> compared(result, pair, floor))
                        .orElse(result);
                for (Comparison each : COMPARISONS) {
                    if (each.subject().equals(result.name())) {
                        Result before = compared;
                        compared = named(each.other(), good)
                                .map(other -> before.with(each.figure(), pair.ratioTo(other)))
                                .orElse(before);
                    }
                }
                results.add(target == BenchTarget.THROUGHPUT ? compared : withAllocation(compared, pair));
            });
        }
        return results;
    }

    private static Optional<SubjectPair> named(String name, List<SubjectPair> pairs) {
        return pairs.stream().filter(pair -> pair.subject().name().equals(name)).findFirst();
    }

    private List<Result> atRate(List<SubjectPair> pairs, double rate) {
        List<Result> results = new ArrayList<>();
        long nanos = plan.durationNanos();
        for (SubjectPair pair : pairs) {
            rounds.attempt(
                    target,
                    pair.subject(),
                    () -> results.add(
                            result(pair, pair.turn(nanos, client -> client.atRate(nanos, rate)), "fixed rate")));
        }
        return results;
    }

    private Result compared(Result result, SubjectPair pair, SubjectPair floor) {
        return switch (target) {
            case RTT -> result.with("raw_ratio", pair.ratioTo(floor));
            case THROUGHPUT ->
                result.with("platform_ratio", pair.ratioTo(floor)).with("worst_platform_ratio", pair.ratioTo(floor));
            case METRICS -> result.with("added_ns", pair.above(floor));
            // The inverse: how many times as long a fresh connection takes.
            case CONNECT -> result.with("fresh_ratio", 1 / pair.ratioTo(floor));
            // gRPC is compared with the call over RDMA that does the same.
            case RDMA ->
                result.with(
                        floor.subject().isOf(BenchTarget.VERBS) ? "pingpong_ratio" : "rdma_ratio", pair.ratioTo(floor));
            // A socket's inverse: how many times as long it takes as Rackcall.
            case GRPC ->
                floor.subject().has(Subject.Trait.ONE_PROCESS)
                        ? result.with("inproc_ratio", pair.ratioTo(floor))
                        : result.with("rackcall_ratio", pair.ratioTo(floor));
            default -> result.with("floor_ratio", pair.ratioTo(floor)).with("above_floor_ns", pair.above(floor));
        };
    }

    private Result result(SubjectPair pair, Measurement measurement, String mode) {
        Subject subject = pair.subject();
        return Result.of(subject.name(), target, 1, subject.bytes(), measurement.dividedBy(subject.repetitions()))
                .with("mode", mode)
                .with("settled", pair.warmUp().settled())
                .with(
                        "pinned",
                        subject.has(Subject.Trait.SPINS)
                                && !plan.cores().pinned().isEmpty());
    }

    /**
     * Bytes of Java heap that one call allocates: in the calling thread, and in all threads of the process that serves.
     */
    private static Result withAllocation(Result result, SubjectPair pair) {
        int calls =
                (int) Math.max(LEAST_CALLS, ALLOCATION_SECONDS * pair.warmUp().opsPerS());
        pair.resume();
        // The first count loads the counter's own classes.
        pair.client().ask(client -> client.allocation(LEAST_CALLS));
        pair.server().ifPresent(server -> server.ask(side -> HeapAllocation.ofOtherThreads()));
        Optional<Long> before = pair.server().map(server -> server.ask(side -> HeapAllocation.ofOtherThreads()));
        double client = pair.client().ask(side -> side.allocation(calls));
        Optional<Long> after = pair.server().map(server -> server.ask(side -> HeapAllocation.ofOtherThreads()));
        pair.pause();
        double operations = (double) calls * pair.subject().repetitions();
        Result allocated = result.with("alloc_client_b", client / operations);
        return before.isEmpty()
                ? allocated
                : allocated.with("alloc_server_b", (after.orElseThrow() - before.get()) / operations);
    }
}
