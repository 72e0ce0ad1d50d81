package dev.rackcall.perf;

import java.io.IOException;
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
 * <p>Subjects that spin, and those that are compared with them, take turns of a twentieth of the duration. On a virtual machine the host moves the processors about, and a round trip
 * through shared memory then takes twice or half the time from one second to the next; taking turns, all subjects meet the same mixture, and
 * each can be compared with the raw ping-pong of the same round.
 */
final class RttTarget {
    /** Allocation is counted over about so many seconds of calls. */
    private static final double ALLOCATION_SECONDS = 0.1;

    private static final int LEAST_CALLS = 100;
    private static final int ROUNDS = 20;
    private static final int STARTERS = 2;
    private final Target target;
    private final Plan plan;
    private final Workspace workspace;
    private final Runner runner;

    RttTarget(Target target, Plan plan, Workspace workspace, Runner runner) {
        this.target = target;
        this.plan = plan;
        this.workspace = workspace;
        this.runner = runner;
    }

    /** Of the subjects that the target measures, those that take turns together, each of the others alone. */
    static List<List<Subject>> groups(Target target, List<Subject> subjects) {
        List<Subject> own =
                subjects.stream().filter(subject -> subject.isOf(target)).toList();
        Map<String, List<Subject>> spinning = own.stream()
                .filter(Subject::takesTurns)
                .collect(Collectors.groupingBy(Subject::group, LinkedHashMap::new, Collectors.toList()));
        List<List<Subject>> groups = new ArrayList<>(spinning.values());
        own.stream().filter(subject -> !subject.takesTurns()).forEach(subject -> groups.add(List.of(subject)));
        return groups;
    }

    List<Result> measure(List<Subject> group) {
        List<Lane> lanes = new ArrayList<>();
        try {
            start(group, lanes);
            List<Lane> warm = lanes.stream()
                    .filter(lane -> runner.attempt(target, lane.subject(), () -> lane.warmUp(plan.warmUpNanos())))
                    .toList();
            return plan.rate().isPresent() ? atRate(warm, plan.rate().getAsDouble()) : closedLoop(warm);
        } finally {
            lanes.forEach(Lane::close);
        }
    }

    /** Two at a time: a JVM uses one processor while it starts, which takes about as long as a measurement. None is under way yet. */
    private void start(List<Subject> group, List<Lane> lanes) {
        try (ExecutorService starters = Executors.newFixedThreadPool(STARTERS)) {
            Map<Subject, Future<Lane>> starting = new LinkedHashMap<>();
            for (Subject subject : group) {
                starting.put(subject, starters.submit(() -> Lane.start(subject, workspace.newPart(), plan.cores())));
            }
            starting.forEach((subject, lane) -> runner.attempt(target, subject, () -> lanes.add(started(lane))));
        }
    }

    private static Lane started(Future<Lane> lane) throws IOException {
        try {
            return lane.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw failure;
            }
            throw e.getCause() instanceof RuntimeException failure
                    ? failure
                    : new BenchFailure(e.getCause().toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted while its processes were started");
        }
    }

    private List<Result> closedLoop(List<Lane> lanes) {
        List<Lane> broken = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            for (Lane lane : lanes) {
                if (!broken.contains(lane)
                        && !runner.attempt(target, lane.subject(), () -> lane.slice(plan.durationNanos() / ROUNDS))) {
                    broken.add(lane);
                }
            }
        }
        List<Result> results = new ArrayList<>();
        for (Lane lane : lanes) {
            if (!broken.contains(lane)) {
                runner.attempt(target, lane.subject(), () -> {
                    Measurement all = lane.client().ask(Order.of(Order.Action.RESULT), Measurement.class);
                    Result result = result(lane, all, "closed loop");
                    Optional<Lane> floor = lanes.stream()
                            .filter(each ->
                                    each.subject().name().equals(lane.subject().floor()) && !broken.contains(each))
                            .findFirst();
                    results.add(withAllocation(
                            floor.map(each -> compared(result, lane, each)).orElse(result), lane));
                });
            }
        }
        return NeighbourSubject.withRatios(results);
    }

    private List<Result> atRate(List<Lane> lanes, double rate) {
        List<Result> results = new ArrayList<>();
        for (Lane lane : lanes) {
            runner.attempt(target, lane.subject(), () -> {
                Measurement all = lane.turn(Order.atRate(plan.durationNanos(), rate), Measurement.class);
                results.add(result(lane, all, "fixed rate"));
            });
        }
        return NeighbourSubject.withRatios(results);
    }

    private Result compared(Result result, Lane lane, Lane floor) {
        return switch (target) {
            case RTT -> result.with("raw_ratio", lane.ratioTo(floor));
            // Turned round: how many times as long a fresh connection takes.
            case CONNECT -> result.with("fresh_ratio", 1 / lane.ratioTo(floor));
            case RDMA -> {
                // gRPC is compared with the call over RDMA that does the same.
                boolean isFloor = floor.subject().isOf(Target.VERBS);
                yield result.with(isFloor ? "pingpong_ratio" : "rdma_ratio", lane.ratioTo(floor));
            }
            default -> result.with("floor_ratio", lane.ratioTo(floor)).with("above_floor_ns", lane.above(floor));
        };
    }

    private Result result(Lane lane, Measurement measurement, String mode) {
        int repetitions = lane.subject().repetitions();
        return Result.of(lane.subject().name(), target, 1, lane.subject().bytes(), measurement.dividedBy(repetitions))
                .with("mode", mode)
                .with("settled", lane.warmUp().settled());
    }

    /** Bytes of Java heap that one call allocates: in the calling thread, and in all threads of the process that serves. */
    private static Result withAllocation(Result result, Lane lane) {
        int calls =
                (int) Math.max(LEAST_CALLS, ALLOCATION_SECONDS * lane.warmUp().opsPerS());
        Order calling = Order.counted(Order.Action.ALLOCATION, calls);
        lane.resume();
        // The first count loads the counter's own classes.
        lane.client().ask(Order.counted(Order.Action.ALLOCATION, LEAST_CALLS), Allocation.class);
        if (lane.pair().server().isEmpty()) {
            return result.with("alloc_client_b", perCall(lane.client().ask(calling, Allocation.class)));
        }
        ChildJvm server = lane.pair().server().get();
        Order ask = Order.of(Order.Action.ALLOCATED);
        server.ask(ask, Allocation.class); // likewise
        long before = server.ask(ask, Allocation.class).bytes();
        Allocation called = lane.client().ask(calling, Allocation.class);
        long served = server.ask(ask, Allocation.class).bytes() - before;
        server.ask(Order.of(Order.Action.PAUSE), Boolean.class);
        return result.with("alloc_client_b", perCall(called))
                .with("alloc_server_b", perCall(new Allocation(served, calls)));
    }

    private static double perCall(Allocation allocation) {
        return (double) allocation.bytes() / allocation.calls();
    }
}
