package dev.rackcall.perf;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Elastic starts, by virtual queues and by fresh queue pairs in turns, so that a disturbance meets both. */
final class ElasticTarget {
    private static final int ROUNDS = 10;
    /** Starts of each, before any is measured: with two, half of the processors' time went to the compilers of the four JVMs. */
    private static final int LEAST_WARM_UP = 20;

    private final Plan plan;
    private final Workspace workspace;
    private final Runner runner;

    ElasticTarget(Plan plan, Workspace workspace, Runner runner) {
        this.plan = plan;
        this.workspace = workspace;
        this.runner = runner;
    }

    /** One subject, its processes and what they have measured so far. */
    private static final class Turn {
        final Subject subject;
        final Pair pair;
        final LatencyRecorder recorder = new LatencyRecorder();

        Turn(Subject subject, Pair pair) {
            this.subject = subject;
            this.pair = pair;
        }

        long once() {
            Measurement start = pair.client().ask(Order.counted(Order.Action.OPEN, 1), Measurement.class);
            pair.client().ask(Order.of(Order.Action.CLOSE), Measurement.class);
            return start.p50Ns();
        }
    }

    List<Result> measure(List<Subject> group) {
        List<Turn> turns = new ArrayList<>();
        try {
            for (Subject subject : group) {
                runner.attempt(Target.ELASTIC, subject, () -> turns.add(start(subject)));
            }
            warmUp(turns);
            for (int round = 0; round < ROUNDS; round++) {
                turns.removeIf(turn -> !runner.attempt(Target.ELASTIC, turn.subject, () -> {
                    long nanos = turn.once();
                    turn.recorder.record(nanos);
                    turn.recorder.add(1, nanos);
                }));
            }
            return compared(turns.stream().map(ElasticTarget::result).toList());
        } finally {
            turns.forEach(turn -> turn.pair.close());
        }
    }

    private Turn start(Subject subject) throws IOException {
        return new Turn(subject, Pair.start(subject, workspace.newPart(), Cores.UNPINNED));
    }

    /** In turns, too: agents let go of one start's workers while others start, and have room for so many at a time. */
    private void warmUp(List<Turn> turns) {
        long begin = System.nanoTime();
        long least = turns.size() * plan.warmUpNanos();
        for (int i = 0; i < LEAST_WARM_UP || System.nanoTime() - begin < least; i++) {
            turns.removeIf(turn -> !runner.attempt(Target.ELASTIC, turn.subject, turn::once));
        }
    }

    private static Result result(Turn turn) {
        return Result.of(turn.subject.name(), Target.ELASTIC, 1, 0, turn.recorder.measurement());
    }

    /** How much less time each takes than fresh queue pairs for the same work, as KRCORE's authors say it: theirs 83 %. */
    static List<Result> compared(List<Result> results) {
        return results.stream()
                .map(result -> results.stream()
                        .filter(other -> other.name().equals(floor(result.name())))
                        .findFirst()
                        .map(fresh ->
                                result.with("less_percent", 100.0 * (1 - (double) result.p50Ns() / fresh.p50Ns())))
                        .orElse(result))
                .toList();
    }

    /** The fresh queue pairs that do the same. */
    private static String floor(String name) {
        return name.replace(ElasticSubject.VIRTUAL, ElasticSubject.FRESH);
    }
}
