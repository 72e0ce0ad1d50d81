package dev.rackcall.cli.view;

import dev.rackcall.cli.top.TopReport;
import dev.rackcall.cli.top.TopReport.ConnectionRow;
import dev.rackcall.cli.top.TopReport.ProcessRow;
import dev.rackcall.cli.view.ViewState.ConnectionEdge;
import dev.rackcall.cli.view.ViewState.ProcessNode;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/**
 * The last minutes of a host's connections. It keeps those that ended for a while, because a server that died is what
 * an operator looks for. Its size has a bound, whatever other processes do. For one thread.
 */
final class ViewHistory {
    /** Five minutes. */
    static final int MOST_POINTS = 300;

    static final int MOST_CONNECTIONS = 500;
    static final int MOST_PROCESSES = 500;
    /** How long a connection is shown after its end. */
    static final Duration GONE = Duration.ofSeconds(60);

    private static final float NONE = Float.NaN;

    private final String host;
    private final String explainOptions;
    private final IntFunction<Optional<Path>> folders;
    private final long[] times = new long[MOST_POINTS];
    private Map<String, Trace> traces = new LinkedHashMap<>();
    private Map<Integer, ProcessRow> known = new HashMap<>();
    private long points;

    /**
     * @param explainOptions what follows the channel in a command that explains it
     * @param folders gives the runtime folder of a process, if it is not the one of this process
     */
    ViewHistory(String host, String explainOptions, IntFunction<Optional<Path>> folders) {
        this.folders = folders;
        this.host = host;
        this.explainOptions = explainOptions;
    }

    /** What is shown if nothing could be read. */
    ViewState failed(long sequence, long millis, String problem) {
        return new ViewState(sequence, millis, host, Optional.of(problem), 0, 0, List.of(), List.of());
    }

    /**
     * Adds what was seen in an interval.
     *
     * @param nanos the time by the monotonic clock
     * @param isAlive whether the process with that pid runs
     */
    ViewState add(long sequence, long millis, long nanos, TopReport report, IntPredicate isAlive) {
        int point = (int) (points++ % MOST_POINTS);
        times[point] = millis;
        Map<String, Trace> next = new LinkedHashMap<>();
        for (ConnectionRow row : report.connections()) {
            if (next.size() == MOST_CONNECTIONS) {
                break;
            }
            Trace trace = Optional.ofNullable(traces.get(row.id())).orElseGet(() -> new Trace(explainCommand(row)));
            trace.see(row, point);
            trace.findFolder(folders);
            next.put(row.id(), trace);
        }
        traces.forEach((id, trace) -> {
            if (!next.containsKey(id) && next.size() < MOST_CONNECTIONS && trace.miss(nanos, point, isAlive)) {
                next.put(id, trace);
            }
        });
        traces = next;
        return new ViewState(
                sequence,
                millis,
                host,
                Optional.empty(),
                report.notReadable(),
                Math.max(0, report.connections().size() - MOST_CONNECTIONS),
                processes(report, isAlive),
                traces.values().stream()
                        .map(trace -> trace.edge(nanos, explainOptions))
                        .toList());
    }

    /**
     * Removes the connections that the agent left out. They may still be open, so the page must not show them as closed.
     */
    void forget(Predicate<String> isLeftOut) {
        traces.entrySet().removeIf(each -> each.getValue().goneNanos.isEmpty() && isLeftOut.test(each.getKey()));
    }

    /** The processes that hold memory now, and those at the ends of connections that are still shown. */
    private List<ProcessNode> processes(TopReport report, IntPredicate isAlive) {
        Map<Integer, ProcessRow> next = new LinkedHashMap<>();
        List<ProcessNode> nodes = new ArrayList<>();
        Set<Integer> ends = new LinkedHashSet<>();
        traces.values().forEach(trace -> {
            trace.row.serverPid().ifPresent(ends::add);
            trace.row.clientPid().ifPresent(ends::add);
        });
        for (ProcessRow row : report.processes()) {
            // One that has no connection waits for one, or has memory of its own only.
            if (next.size() < MOST_PROCESSES || ends.contains(row.pid())) {
                next.put(row.pid(), row);
                nodes.add(new ProcessNode(row, false));
            }
        }
        for (int pid : ends) {
            if (!next.containsKey(pid)) {
                String name = known.containsKey(pid) ? known.get(pid).name() : "?";
                ProcessRow row = new ProcessRow(pid, name, 0, 0, 0, 0, 0);
                next.put(pid, row);
                nodes.add(new ProcessNode(row, !isAlive.test(pid)));
            }
        }
        known = next;
        return nodes;
    }

    /** The command without options; empty for gRPC connections, whose servers {@code explain} does not know. Valid channel names need no quoting. */
    private static Optional<String> explainCommand(ConnectionRow row) {
        if (row.usesGrpc()) {
            return Optional.empty();
        }
        try {
            RuntimeDirectory.checkName(row.channel());
            return Optional.of("./rackcall explain " + row.channel());
        } catch (RpcException e) {
            return Optional.empty();
        }
    }

    ViewSeries series() {
        int count = (int) Math.min(points, MOST_POINTS);
        int[] order = new int[count];
        Arrays.setAll(order, i -> (int) ((points - count + i) % MOST_POINTS));
        Map<String, ViewSeries.Numbers> numbers = new LinkedHashMap<>();
        traces.forEach((id, trace) -> numbers.put(
                id,
                new ViewSeries.Numbers(
                        inOrder(trace.rate, order),
                        inOrder(trace.mean, order),
                        inOrder(trace.p50, order),
                        inOrder(trace.p99, order),
                        inOrder(trace.inFlight, order))));
        return new ViewSeries(Arrays.stream(order).mapToObj(i -> times[i]).toList(), numbers);
    }

    private static List<Double> inOrder(float[] values, int[] order) {
        List<Double> all = new ArrayList<>(order.length);
        for (int i : order) {
            all.add(Float.isNaN(values[i]) ? null : Math.round(values[i] * 100.0) / 100.0);
        }
        return all;
    }

    /** A connection and its numbers. */
    private static final class Trace {
        private final float[] rate = new float[MOST_POINTS];
        private final float[] mean = new float[MOST_POINTS];
        private final float[] p50 = new float[MOST_POINTS];
        private final float[] p99 = new float[MOST_POINTS];
        private final float[] inFlight = new float[MOST_POINTS];
        private final Optional<String> explain;
        private ConnectionRow row;
        private boolean searched;
        private Optional<String> folder = Optional.empty();
        private Optional<Long> goneNanos = Optional.empty();

        Trace(Optional<String> explain) {
            this.explain = explain;
            for (float[] values : all()) {
                Arrays.fill(values, NONE);
            }
        }

        private List<float[]> all() {
            return List.of(rate, mean, p50, p99, inFlight);
        }

        void see(ConnectionRow now, int point) {
            row = row == null ? now : with(now, row, now.state());
            goneNanos = Optional.empty();
            boolean valid = now.invalid().isEmpty();
            rate[point] = valid ? (float) now.requestsPerSecond() : NONE;
            mean[point] = now.meanMicros().map(Double::floatValue).orElse(NONE);
            p50[point] = now.p50Micros().map(Double::floatValue).orElse(NONE);
            p99[point] = now.p99Micros().map(Double::floatValue).orElse(NONE);
            inFlight[point] = valid ? (float) now.inFlight() : NONE;
        }

        /** Looks up the runtime folder once, while the process is alive. */
        void findFolder(IntFunction<Optional<Path>> folders) {
            Optional<Integer> pid = row.serverPid().or(row::clientPid);
            if (!searched && explain.isPresent() && pid.isPresent()) {
                searched = true;
                folder = folders.apply(pid.get()).map(Path::toString);
            }
        }

        /** Notes that it is not there; returns whether it is still to be shown. */
        boolean miss(long nanos, int point, IntPredicate isAlive) {
            for (float[] values : all()) {
                values[point] = NONE;
            }
            if (goneNanos.isEmpty()) {
                goneNanos = Optional.of(nanos);
                row = with(idle(row), row, stateAtEnd(isAlive));
            }
            return nanos - goneNanos.get() < GONE.toNanos();
        }

        private String stateAtEnd(IntPredicate isAlive) {
            if (row.serverPid().isPresent() && !isAlive.test(row.serverPid().get())) {
                return "server gone";
            }
            if (row.clientPid().isPresent() && !isAlive.test(row.clientPid().get())) {
                return "client gone";
            }
            return row.state().endsWith(" gone") || row.invalid().isPresent() ? row.state() : "closed";
        }

        ConnectionEdge edge(long nanos, String options) {
            String where =
                    folder.map(path -> " --dir " + ViewCommand.quoted(path)).orElse("");
            return new ConnectionEdge(
                    row,
                    goneNanos.map(since -> TimeUnit.NANOSECONDS.toSeconds(nanos - since)),
                    folder,
                    explain.map(command -> command + where + options));
        }

        /** The row with the pids of the one before where it has none. */
        private static ConnectionRow with(ConnectionRow now, ConnectionRow before, String state) {
            return new ConnectionRow(
                    now.id(),
                    now.channel(),
                    now.serverPid().or(before::serverPid),
                    now.clientPid().or(before::clientPid),
                    now.holders(),
                    now.invalid().isPresent() ? before.transport() : now.transport(),
                    state,
                    now.requestsPerSecond(),
                    now.requests(),
                    now.meanMicros(),
                    now.p50Micros(),
                    now.p99Micros(),
                    now.inFlight(),
                    now.slots(),
                    now.sleepingCallers(),
                    now.serverPolls(),
                    now.waits(),
                    now.memoryBytes(),
                    now.requestArena(),
                    now.replyArena(),
                    now.sharedArena(),
                    now.invalid());
        }

        private static ConnectionRow idle(ConnectionRow row) {
            return new ConnectionRow(
                    row.id(),
                    row.channel(),
                    row.serverPid(),
                    row.clientPid(),
                    row.holders(),
                    row.transport(),
                    row.state(),
                    0,
                    row.requests(),
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    0,
                    row.slots(),
                    0,
                    false,
                    TopReport.WaitRates.NONE,
                    0,
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    row.invalid());
        }
    }
}
