package dev.rackcall.perf.elastic;

import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.LatencyRecorder;
import dev.rackcall.perf.harness.MeasuredClient;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.SubjectPair;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Result;
import java.util.ArrayList;
import java.util.List;

/** Measures elastic starts, by virtual queues and by fresh queue pairs in turns, so that a disturbance affects both. */
public record ElasticTarget(BenchPlan plan, Workspace workspace, Rounds rounds) {
    private static final int STARTS = 10;
    /**
     * Starts of each subject before the measurement. With only two, the JIT compilers of the four JVMs took half of the
     * processors' time.
     */
    private static final int LEAST_WARM_UP = 20;

    /** One subject, its processes and its starts so far. */
    private record Turn(Subject subject, SubjectPair pair, LatencyRecorder recorder) {
        long once() {
            long nanos = pair.client().ask(client -> client.open(1)).p50Ns();
            pair.client().ask(MeasuredClient::closeFurther);
            return nanos;
        }

        void measured() {
            long nanos = once();
            recorder.record(nanos);
            recorder.add(1, nanos);
        }
    }

    public List<Result> measure(List<Subject> group) {
        List<Turn> turns = new ArrayList<>();
        try {
            for (Subject subject : group) {
                rounds.attempt(
                        BenchTarget.ELASTIC,
                        subject,
                        () -> turns.add(new Turn(
                                subject,
                                SubjectPair.start(subject, workspace.newPart(), Cores.UNPINNED),
                                new LatencyRecorder())));
            }
            warmUp(turns);
            for (int round = 0; round < STARTS; round++) {
                turns.removeIf(turn -> fails(turn, turn::measured));
            }
            return compared(turns.stream()
                    .map(turn -> Result.of(turn.subject.name(), BenchTarget.ELASTIC, 1, 0, turn.recorder.measurement()))
                    .toList());
        } finally {
            turns.forEach(turn -> turn.pair.close());
        }
    }

    private boolean fails(Turn turn, Rounds.Step step) {
        boolean failed = !rounds.attempt(BenchTarget.ELASTIC, turn.subject, step);
        if (failed) {
            turn.pair.close();
        }
        return failed;
    }

    /**
     * Warms up in turns, too: an agent has room for a limited number of workers, and removes those of one start while
     * other subjects start.
     */
    private void warmUp(List<Turn> turns) {
        long begin = System.nanoTime();
        long least = turns.size() * plan.warmUpNanos();
        for (int i = 0; i < LEAST_WARM_UP || System.nanoTime() - begin < least; i++) {
            turns.removeIf(turn -> fails(turn, turn::once));
        }
    }

    /**
     * Adds how much less time, in per cent, each subject takes than fresh queue pairs for the same work. KRCORE's
     * authors report 83 %.
     */
    static List<Result> compared(List<Result> results) {
        return results.stream()
                .map(result -> results.stream()
                        .filter(other ->
                                other.name().equals(result.name().replace(ElasticSides.VIRTUAL, ElasticSides.FRESH)))
                        .findFirst()
                        .map(fresh ->
                                result.with("less_percent", 100.0 * (1 - (double) result.p50Ns() / fresh.p50Ns())))
                        .orElse(result))
                .toList();
    }
}
