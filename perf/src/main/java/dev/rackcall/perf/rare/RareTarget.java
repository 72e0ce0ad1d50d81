package dev.rackcall.perf.rare;

import dev.rackcall.perf.calls.BenchTransport;
import dev.rackcall.perf.calls.RackcallCall;
import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.MeasuredClient;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.SubjectPair;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.peers.UnixSocketEcho;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** One client that calls rarely, not pinned. Each repeat has fresh processes, in which all gaps are measured. */
public record RareTarget(BenchPlan plan, Workspace workspace, Rounds rounds) {
    private static final int BYTES = 64;
    /** Fewer have no 99th percentile. */
    private static final int LEAST_CALLS = 100;

    private static final int WARM_CALLS = 20_000;
    /** Calls between which both sides sleep: a closed loop does not warm the code that sleeps and wakes. */
    private static final int WARM_RARE_CALLS = 10_000;

    private static final long WARM_GAP_NANOS = 200_000;
    private static final String RACKCALL = "rare-rackcall-";
    /** The gaps in nanoseconds, by their part of the names: milliseconds. */
    private static final Map<String, Long> GAPS = new LinkedHashMap<>();

    static {
        GAPS.put("0.2", 200_000L);
        GAPS.put("2", 2_000_000L);
        GAPS.put("20", 20_000_000L);
        GAPS.put("200", 200_000_000L);
    }

    /** What the target measures. */
    public static List<Subject> subjects() {
        List<Subject> subjects = new ArrayList<>();
        for (String gap : GAPS.keySet()) {
            subjects.add(RackcallCall.subject(
                            RACKCALL + gap, BenchTransport.SHARED_MEMORY, RackcallCall.Argument.VALUE, BYTES)
                    .in(BenchTarget.RARE, "rackcall", ""));
            subjects.add(Subject.of("rare-uds-" + gap, BYTES, UnixSocketEcho.settings(), new UnixSocketEcho(BYTES))
                    .in(BenchTarget.RARE, "uds", ""));
            subjects.add(Subject.of(
                            "rare-c-uds-" + gap,
                            BYTES,
                            "C, blocking Unix socket, compiled for the run with -O2",
                            new CompiledPingPong())
                    .in(BenchTarget.RARE, "c-uds", "")
                    .unless(CompiledPingPong::missing));
        }
        return subjects;
    }

    /** Measures the plan's subjects. */
    public List<Result> measure() {
        List<Subject> chosen = plan.subjects().stream()
                .filter(subject -> subject.isOf(BenchTarget.RARE))
                .toList();
        Map<String, List<Subject>> groups =
                chosen.stream().collect(Collectors.groupingBy(Subject::group, LinkedHashMap::new, Collectors.toList()));
        List<Result> results = rounds.runGroups(BenchTarget.RARE, List.copyOf(groups.values()), this::measured);
        return withRatios(chosen.stream().map(Subject::name).toList(), results);
    }

    private List<Result> measured(List<Subject> group) {
        List<Result> results = new ArrayList<>();
        rounds.attempt(BenchTarget.RARE, group.getFirst(), () -> measure(group, results));
        return results;
    }

    private void measure(List<Subject> group, List<Result> results) throws IOException {
        try (SubjectPair pair = SubjectPair.start(group.getFirst(), workspace.newPart(), Cores.UNPINNED)) {
            MeasuredProcess<MeasuredClient> client = pair.client();
            long warmUpNanos = plan.warmUpNanos();
            client.ask(warmUpNanos, side -> side.warmUp(warmUpNanos, WARM_CALLS));
            int rareCalls = Math.clamp(warmUpNanos / WARM_GAP_NANOS, 1, WARM_RARE_CALLS);
            client.ask(WARM_GAP_NANOS * rareCalls, side -> side.rarely(WARM_GAP_NANOS, rareCalls));
            for (Subject subject : group) {
                long gap = GAPS.get(subject.name().substring(subject.name().lastIndexOf('-') + 1));
                int calls = (int) Math.max(LEAST_CALLS, plan.durationNanos() / gap);
                Measurement rare = client.ask(gap * calls, side -> side.rarely(gap, calls));
                results.add(Result.of(subject.name(), BenchTarget.RARE, 1, subject.bytes(), rare)
                        .with("gap_ns", gap)
                        .with("worst_p50_ns", rare.p50Ns())
                        .with("worst_p99_ns", rare.p99Ns()));
            }
        }
    }

    /** In the order of the names, with Rackcall's worst median divided by the median of each socket's. */
    static List<Result> withRatios(List<String> order, List<Result> results) {
        Map<String, Result> byName = results.stream().collect(Collectors.toMap(Result::name, Function.identity()));
        return order.stream()
                .filter(byName::containsKey)
                .map(byName::get)
                .map(result -> result.name().startsWith(RACKCALL)
                        ? compared(compared(result, "uds", byName), "c-uds", byName)
                        : result)
                .toList();
    }

    private static Result compared(Result rackcall, String peer, Map<String, Result> others) {
        Result other = others.get(rackcall.name().replace("rackcall", peer));
        return other == null
                ? rackcall
                : rackcall.with(
                        peer.replace('-', '_') + "_ratio",
                        rackcall.figure("worst_p50_ns").orElseThrow() / other.p50Ns());
    }
}
