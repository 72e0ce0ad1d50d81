package dev.rackcall.perf.social;

import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Launch;
import dev.rackcall.perf.harness.Rounds;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Figures;
import dev.rackcall.perf.result.Result;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Latencies of the social network over the offered load, up to saturation. Both networks exist at the same time and take
 * turns; each repeat has fresh ones.
 */
public record SocialTarget(BenchPlan plan, Workspace workspace, Rounds rounds) {
    /** Requests a second. */
    private static final List<Integer> RATES =
            List.of(500, 1_000, 2_000, 3_000, 4_000, 6_000, 8_000, 10_000, 12_000, 14_000, 16_000, 20_000, 24_000);

    private static final String SATURATION = "saturation";
    private static final String HALF = "half";
    /** A network keeps up with a rate of which it answers this part in the time in which the requests are due. */
    private static final double KEEPS_UP = 0.95;
    /** Halvings of the gap between the last rate that a network keeps up with and the first that it does not. */
    private static final int HALVINGS = 3;

    /** What the target measures. */
    public static List<Subject> subjects() {
        List<Subject> subjects = new ArrayList<>();
        for (SocialTransport transport : SocialTransport.values()) {
            Stream.concat(RATES.stream().map(Object::toString), Stream.of(SATURATION, HALF))
                    .map(what -> subject(transport, what))
                    .forEach(subjects::add);
        }
        return subjects;
    }

    private static Subject subject(SocialTransport transport, String what) {
        return Subject.of(name(transport, what), 0, transport.settings(), new SocialSides(transport, List.of()))
                .in(BenchTarget.SOCIAL, transport.word(), "");
    }

    private static String name(SocialTransport transport, Object what) {
        return "social-" + transport.word() + "-" + what;
    }

    private boolean wants(SocialTransport transport, Object what) {
        return plan.subjects().stream().anyMatch(subject -> subject.name().equals(name(transport, what)));
    }

    /** Measures the plan's subjects. */
    public List<Result> measure() {
        List<Subject> first = plan.subjects().stream()
                .filter(subject -> subject.isOf(BenchTarget.SOCIAL))
                .limit(1)
                .toList();
        return withRatios(
                rounds.runGroups(BenchTarget.SOCIAL, first.isEmpty() ? List.of() : List.of(first), this::measured));
    }

    /** With Rackcall's figures divided by those of gRPC at the same load. */
    static List<Result> withRatios(List<Result> results) {
        Map<String, Result> byName = results.stream().collect(Collectors.toMap(Result::name, Function.identity()));
        return results.stream()
                .map(result -> {
                    Result other = byName.get(
                            result.name().replace(SocialTransport.RACKCALL.word(), SocialTransport.GRPC.word()));
                    return other == null || other == result
                            ? result
                            : result.with("grpc_ratio", ratio(result, other, "ops_per_s"))
                                    .with("grpc_p99_ratio", ratio(result, other, "p99_ns"))
                                    .with("grpc_cpu_ratio", ratio(result, other, "cpu_s_per_million"));
                })
                .toList();
    }

    private static double ratio(Result result, Result other, String figure) {
        return result.figure(figure).orElseThrow() / other.figure(figure).orElseThrow();
    }

    private List<Result> measured(List<Subject> first) {
        List<Result> results = new ArrayList<>();
        rounds.attempt(BenchTarget.SOCIAL, first.getFirst(), () -> measure(results));
        return results;
    }

    private void measure(List<Result> results) throws IOException {
        Map<SocialTransport, SocialNetwork> networks = new EnumMap<>(SocialTransport.class);
        try {
            for (SocialTransport transport : SocialTransport.values()) {
                if (plan.subjects().stream().anyMatch(subject -> subject.group().equals(transport.word()))) {
                    SocialNetwork network = new SocialNetwork(transport, workspace.newPart(), Launch.asUsersDo());
                    networks.put(transport, network);
                    long perSecond = network.warmUp(plan.warmUpNanos());
                    plan.say("  " + transport.word() + " is warm: " + perSecond + "/s in a closed loop");
                }
            }
            measure(networks, results);
        } finally {
            networks.values().forEach(SocialNetwork::close);
        }
    }

    private void measure(Map<SocialTransport, SocialNetwork> networks, List<Result> results) {
        List<Search> searches = networks.entrySet().stream()
                .map(entry -> new Search(entry.getKey(), entry.getValue()))
                .collect(Collectors.toCollection(ArrayList::new));
        boolean isSearch = searches.stream()
                .anyMatch(search -> wants(search.transport, SATURATION) || wants(search.transport, HALF));
        for (int rate : RATES) {
            for (Search search : searches) {
                if (search.isOpen() && (isSearch || wants(search.transport, rate))) {
                    search.step(rate).ifPresent(results::add);
                }
            }
        }
        if (!isSearch) {
            return;
        }
        for (int i = 0; i < HALVINGS; i++) {
            searches.forEach(Search::halve);
        }
        searches.removeIf(search -> search.low == 0);
        searches.forEach(search -> results.add(search.result(SATURATION, search.low, search.best)));
        if (!searches.isEmpty() && searches.getLast().transport == SocialTransport.GRPC) {
            double half = searches.getLast().low / 2;
            for (Search search : searches) {
                results.add(search.result(HALF, half, search.load(half)));
            }
        }
    }

    /** The highest rate that a network keeps up with. */
    private final class Search {
        private final SocialTransport transport;
        private final SocialNetwork network;
        private double low;
        private LoadGenerator.Load best;
        private double high = Double.POSITIVE_INFINITY;

        Search(SocialTransport transport, SocialNetwork network) {
            this.transport = transport;
            this.network = network;
        }

        /** Whether the network has kept up so far. */
        boolean isOpen() {
            return high == Double.POSITIVE_INFINITY;
        }

        /** Offers a rate, twice if the network does not keep up; the result, if the plan has it. */
        Optional<Result> step(int rate) {
            LoadGenerator.Load load = load(rate);
            if (!keepsUp(rate, load)) {
                load = load(rate);
            }
            note(rate, load);
            return wants(transport, rate) ? Optional.of(result(rate, rate, load)) : Optional.empty();
        }

        void halve() {
            if (low > 0 && !isOpen()) {
                double middle = (low + high) / 2;
                note(middle, load(middle));
            }
        }

        LoadGenerator.Load load(double rate) {
            LoadGenerator.Load load = network.load(rate, plan.durationNanos());
            plan.say("  %s at %,.0f/s: %,.0f/s, p50 %s, p99 %s, cpu %s %s"
                    .formatted(
                            transport.word(),
                            rate,
                            load.latencies().opsPerS(),
                            Figures.time((double) load.latencies().p50Ns()),
                            Figures.time((double) load.latencies().p99Ns()),
                            Figures.time(1e3 * load.processorSecondsPerMillion()),
                            load.failed() == 0 ? "" : load.failed() + " failed: " + load.failure()));
            return load;
        }

        private void note(double rate, LoadGenerator.Load load) {
            if (keepsUp(rate, load)) {
                low = rate;
                best = load;
            } else {
                high = rate;
            }
        }

        private boolean keepsUp(double rate, LoadGenerator.Load load) {
            return load.failed() == 0 && load.latencies().opsPerS() >= KEEPS_UP * rate;
        }

        Result result(Object what, double rate, LoadGenerator.Load load) {
            return Result.of(name(transport, what), BenchTarget.SOCIAL, 1, 0, load.latencies())
                    .with("offered_per_s", rate)
                    .with("failed", load.failed())
                    .with("cpu_s_per_million", load.processorSecondsPerMillion());
        }
    }
}
