package dev.rackcall.cli.top;

import dev.rackcall.rpc.shm.view.ConnectionMemory;
import dev.rackcall.rpc.shm.view.ConnectionReading;
import dev.rackcall.rpc.shm.view.InvalidMemoryException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Watches the connections of this host's processes, interval by interval. For one thread. */
final class TopWatch implements AutoCloseable {
    /** Looking for processes and connections costs more than reading the connections that are known. */
    private static final int INTERVALS_A_SCAN = 4;

    private final ProcFolder folder;
    private final Map<HeldMemory.FileId, WatchedConnection> watched = new LinkedHashMap<>();
    private List<MemoryHolder> holders = List.of();
    private long intervals;

    TopWatch(ProcFolder folder) {
        this.folder = folder;
    }

    /** Begins an interval; first looks for processes and connections if that was not done lately. */
    void begin() throws IOException {
        if (intervals++ % INTERVALS_A_SCAN == 0) {
            scan();
        }
        watched.values().forEach(WatchedConnection::begin);
    }

    private void scan() throws IOException {
        holders = folder.scan();
        Map<HeldMemory.FileId, HeldMemory> all = new HashMap<>();
        for (MemoryHolder holder : holders) {
            holder.memory().stream().filter(HeldMemory::isOfChannel).forEach(each -> all.put(each.file(), each));
        }
        for (HeldMemory.FileId file : List.copyOf(watched.keySet())) {
            WatchedConnection connection = watched.get(file);
            if (!all.containsKey(file) || !connection.isOpen()) {
                watched.remove(file);
                connection.close();
            }
        }
        for (HeldMemory memory : all.values()) {
            if (!watched.containsKey(memory.file())) {
                open(memory).ifPresent(connection -> watched.put(memory.file(), connection));
            }
        }
    }

    private static Optional<WatchedConnection> open(HeldMemory memory) {
        try {
            return ConnectionMemory.open(memory.path()).map(WatchedConnection::of);
        } catch (InvalidMemoryException e) {
            return Optional.of(WatchedConnection.invalid(e.getMessage()));
        } catch (IOException e) {
            // The process has closed it meanwhile.
            return Optional.empty();
        }
    }

    /** Reads all connections once. */
    void sample() {
        watched.values().forEach(WatchedConnection::sample);
    }

    /**
     * What was seen in the present interval.
     *
     * @param channel a part of the names of the channels to show
     */
    TopReport report(String channel, TopOrder order) {
        Map<Integer, Totals> totals = new HashMap<>();
        List<TopReport.ConnectionRow> connections = new ArrayList<>();
        watched.forEach((file, connection) -> {
            List<MemoryHolder> ends = endsOf(file);
            HeldMemory memory = memoryOf(file, ends);
            if (memory.name().contains(channel)) {
                TopReport.ConnectionRow row = row(connection, memory, ends);
                connections.add(row);
                row.serverPid()
                        .ifPresent(pid ->
                                totals.computeIfAbsent(pid, _ -> new Totals()).serves(row));
                row.clientPid()
                        .ifPresent(pid ->
                                totals.computeIfAbsent(pid, _ -> new Totals()).calls(row));
            }
        });
        connections.sort(order.comparator());
        List<TopReport.ProcessRow> processes = holders.stream()
                .filter(holder -> channel.isEmpty() || totals.containsKey(holder.pid()))
                .map(holder -> totals.getOrDefault(holder.pid(), new Totals()).of(holder))
                .toList();
        return new TopReport(processes, connections, folder.unreadable());
    }

    private List<MemoryHolder> endsOf(HeldMemory.FileId file) {
        return holders.stream()
                .filter(holder ->
                        holder.memory().stream().anyMatch(each -> each.file().equals(file)))
                .toList();
    }

    private static HeldMemory memoryOf(HeldMemory.FileId file, List<MemoryHolder> ends) {
        return ends.getFirst().memory().stream()
                .filter(each -> each.file().equals(file))
                .findFirst()
                .orElseThrow();
    }

    private TopReport.ConnectionRow row(WatchedConnection connection, HeldMemory memory, List<MemoryHolder> ends) {
        Optional<ConnectionReading> reading = connection.reading();
        if (reading.isEmpty()) {
            String why = connection.problem().orElse("it was not read");
            return new TopReport.ConnectionRow(
                    memory.name(),
                    Optional.empty(),
                    Optional.empty(),
                    "invalid",
                    0,
                    0,
                    Optional.empty(),
                    0,
                    0,
                    0,
                    false,
                    memory.bytes(),
                    Optional.of(why));
        }
        ConnectionReading now = reading.get();
        return new TopReport.ConnectionRow(
                memory.name(),
                pid(now.serverPid(), ends),
                pid(now.clientPid(), ends),
                state(now, ends),
                connection.rate(),
                now.requests(),
                connection.meanMicros(),
                connection.inFlight(),
                now.slots(),
                now.sleeping(),
                now.isPolled(),
                memory.bytes(),
                Optional.empty());
    }

    /** The process that the memory names, if it really holds the memory. */
    private static Optional<Integer> pid(int named, List<MemoryHolder> ends) {
        return ends.stream()
                .filter(end -> end.ids().contains(named))
                .map(MemoryHolder::pid)
                .findFirst();
    }

    /** A dead process's peer keeps the memory until it notices. */
    private String state(ConnectionReading reading, List<MemoryHolder> ends) {
        if (isGone(reading.serverPid(), ends)) {
            return "server gone";
        }
        if (isGone(reading.clientPid(), ends)) {
            return "client gone";
        }
        return reading.state().name().toLowerCase(Locale.ROOT);
    }

    private boolean isGone(int named, List<MemoryHolder> ends) {
        return named > 0 && pid(named, ends).isEmpty() && !folder.isAlive(named);
    }

    @Override
    public void close() throws IOException {
        for (WatchedConnection connection : watched.values()) {
            connection.close();
        }
        watched.clear();
    }

    /** What the connections of a process add up to. */
    private static final class Totals {
        private int serves;
        private int calls;
        private double served;
        private double sent;

        void serves(TopReport.ConnectionRow row) {
            serves++;
            served += row.requestsPerSecond();
        }

        void calls(TopReport.ConnectionRow row) {
            calls++;
            sent += row.requestsPerSecond();
        }

        TopReport.ProcessRow of(MemoryHolder holder) {
            long bytes = holder.memory().stream().mapToLong(HeldMemory::bytes).sum();
            return new TopReport.ProcessRow(holder.pid(), holder.name(), serves, calls, served, sent, bytes);
        }
    }
}
