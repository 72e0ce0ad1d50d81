package dev.rackcall.perf;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The outcome as text for a terminal. */
final class TableFormat {
    private TableFormat() {}

    static String render(Outcome outcome) {
        StringBuilder text = new StringBuilder();
        for (Target target : Target.values()) {
            List<Result> results = outcome.results().stream()
                    .filter(result -> result.target().equals(target.word()))
                    .toList();
            if (!results.isEmpty()) {
                text.append(title(target)).append('\n');
                text.append(table(target, results)).append('\n');
                if (target == Target.ALOCK) {
                    LockComparison.best(results)
                            .forEach(best -> text.append(best).append('\n'));
                    text.append('\n');
                }
                if (target == Target.ISOLATION) {
                    outcome.crossings()
                            .forEach(
                                    crossing -> text.append(crossing.sentence()).append("\n\n"));
                }
            }
        }
        if (!outcome.micro().isEmpty()) {
            TextTable table = new TextTable();
            microRows(outcome.micro()).forEach(table::row);
            text.append(title(Target.JMH)).append('\n').append(table.render()).append('\n');
        }
        text.append(machine(outcome.machine()));
        outcome.skipped().forEach(what -> text.append("SKIPPED: ").append(what).append('\n'));
        outcome.failures()
                .forEach(failure -> text.append("FAILED: ").append(failure).append('\n'));
        return text.toString();
    }

    static String title(Target target) {
        return switch (target) {
            case RTT -> "Round trips, one call in flight";
            case THROUGHPUT -> "Throughput, one client thread";
            case CONNECT ->
                "A new connection: time to its first reply, memory of both sides; connect-*: virtual queues on the software RDMA device";
            case ELASTIC ->
                "Elastic start: 50 workers connect to 20 servers; from nothing until each has read its first key (-first), or a key of each server";
            case IDLE -> "Idle: rare calls and what idle processes use; a busy connection among idle ones";
            case START -> "From the start of the client's JVM to its first reply";
            case ISOLATION ->
                "Isolation: calls that pass a scope of some pages; what snapshots, seals and sandboxes cost";
            case VERBS -> "The software RDMA device, one message in flight";
            case RDMA ->
                "Calls over RDMA (software device), one in flight; grpc-tcp-N beside the call over RDMA that does the same";
            case ALOCK ->
                "Locks: KIND-LOCALITY-LOCKS, 3 nodes with 2 threads each, KIND-LOCALITY-LOCKS-THREADS with so many each, over the software RDMA device, empty critical sections";
            case JMH -> "Micro-benchmarks (JMH, mean time)";
        };
    }

    private static String table(Target target, List<Result> results) {
        TextTable table = new TextTable();
        rows(target, results).forEach(table::row);
        return table.render();
    }

    /** A head and one row for each micro-benchmark. */
    static List<List<String>> microRows(List<Micro> micro) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("benchmark", "ns/op", "error (99.9 %)", "allocated/op"));
        for (Micro one : micro) {
            rows.add(List.of(
                    one.name(),
                    String.format(Locale.ROOT, "%.1f", one.nsPerOp()),
                    String.format(Locale.ROOT, "%.1f", one.errorNs()),
                    Figures.bytes(one.allocBPerOp())));
        }
        return rows;
    }

    /** A head and one row for each result. */
    static List<List<String>> rows(Target target, List<Result> results) {
        List<List<String>> rows = new ArrayList<>();
        List<String> head = new ArrayList<>(List.of("name", "p50", "p99", "p99.9", "calls/s", "in flight", "payload"));
        head.addAll(columns(target).values());
        rows.add(head);
        for (Result result : results) {
            List<String> row = new ArrayList<>(List.of(
                    result.name(),
                    Figures.time((double) result.p50Ns()),
                    Figures.time((double) result.p99Ns()),
                    Figures.time((double) result.p999Ns()),
                    Figures.rate(result.opsPerS()),
                    Integer.toString(result.inFlight()),
                    Figures.bytes(result.bytes())));
            columns(target).keySet().forEach(key -> row.add(figure(result, key)));
            rows.add(row);
        }
        return rows;
    }

    /** The further figures that a target's table shows, with their headings. */
    private static Map<String, String> columns(Target target) {
        return switch (target) {
            case RTT ->
                columns("raw_ratio", "to raw", "alloc_client_b", "alloc client", "alloc_server_b", "alloc server");
            case ISOLATION ->
                columns("floor_ratio", "to trusted", "above_floor_ns", "above trusted", "p99_ratio", "p99 to alone");
            case VERBS -> columns("floor_ratio", "to WRITE", "alloc_client_b", "alloc client");
            case RDMA ->
                columns(
                        "pingpong_ratio",
                        "to ping-pong",
                        "rdma_ratio",
                        "to rdma",
                        "alloc_client_b",
                        "alloc client",
                        "alloc_server_b",
                        "alloc server");
            case CONNECT ->
                columns(
                        "cold_p50_ns",
                        "cold p50",
                        "shared_b",
                        "shared",
                        "private_b",
                        "private",
                        "heap_b",
                        "heap",
                        "fresh_ratio",
                        "fresh rc to it");
            case ELASTIC -> columns("less_percent", "less than fresh");
            case IDLE ->
                columns(
                        "server_cpu_percent",
                        "server cpu",
                        "client_cpu_percent",
                        "client cpu",
                        "p50_ratio",
                        "to alone");
            case ALOCK ->
                columns(
                        "x_spin",
                        "times spin",
                        "x_mcs",
                        "times mcs",
                        "alone_x_spin",
                        "alone times spin",
                        "alone_x_mcs",
                        "alone times mcs",
                        "ns_per_op",
                        "ns an operation");
            case THROUGHPUT, START, JMH -> Map.of();
        };
    }

    private static Map<String, String> columns(String... keysAndHeads) {
        Map<String, String> columns = new LinkedHashMap<>();
        for (int i = 0; i < keysAndHeads.length; i += 2) {
            columns.put(keysAndHeads[i], keysAndHeads[i + 1]);
        }
        return columns;
    }

    private static String figure(Result result, String key) {
        return Optional.ofNullable(result.more().get(key))
                .map(value -> {
                    double number = ((Number) value).doubleValue();
                    if (key.endsWith("_ns")) {
                        return Figures.time(number);
                    }
                    if (key.endsWith("_b")) {
                        return Figures.bytes(number);
                    }
                    return key.endsWith("_percent")
                            ? String.format(Locale.ROOT, "%.2f %%", number)
                            : String.format(Locale.ROOT, "%.2f x", number);
                })
                .orElse("");
    }

    /** Under what circumstances; one line each. */
    static String machine(Machine machine) {
        return String.format(
                Locale.ROOT,
                "%s, %d cores, %s memory, %s, load %.2f%n%s %s%n"
                        + "spinning sides on processors %s; each latency contains one clock reading (%s, %.1f ns)%n"
                        + "%s per measurement, %s, %s%n",
                machine.cpu(),
                machine.cores(),
                Figures.bytes((double) machine.memoryBytes()),
                machine.kernel(),
                machine.load1m(),
                machine.jvm(),
                String.join(" ", machine.flags()),
                machine.pinned().isEmpty()
                        ? "of the scheduler's choice"
                        : machine.pinned().toString(),
                machine.clockSource(),
                machine.clockNs(),
                Figures.time(machine.durationS() * 1e9),
                machine.date(),
                machine.command());
    }
}
