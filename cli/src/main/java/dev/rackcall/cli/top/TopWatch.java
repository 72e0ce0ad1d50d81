package dev.rackcall.cli.top;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.shm.notes.ProcessId;
import dev.rackcall.rpc.shm.view.ArenaMemory;
import dev.rackcall.rpc.shm.view.ArenaReading;
import dev.rackcall.rpc.shm.view.ConnectionMemory;
import dev.rackcall.rpc.shm.view.ConnectionReading;
import dev.rackcall.rpc.shm.view.ConnectionState;
import dev.rackcall.rpc.shm.view.InvalidMemoryException;
import dev.rackcall.rpc.shm.view.ObservedConnection;
import dev.rackcall.rpc.shm.view.PipeConnectionMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Watches the connections of this host's processes, interval by interval. It opens their memory for reading only. Close it
 * when nothing is watched for a while, because it keeps that memory alive. For one thread.
 */
public final class TopWatch implements AutoCloseable {
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long SHORT_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    /** How long a key may wait. */
    private static final long KEY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** A pause is this many times as long as reading all connections took. An interval has two readings at least. */
    private static final int PAUSES_A_SAMPLE = 300;
    /** Looking for processes and connections costs more than reading the connections that are known. */
    private static final int INTERVALS_A_SCAN = 4;

    /** How the name of a channel's shared arena ends. */
    private static final String SHARED_ARENA = "-shared";

    private final ProcFolder folder;
    private final Map<HeldMemory.FileId, WatchedConnection> watched = new LinkedHashMap<>();
    /** The channels' shared arenas at the last scan. */
    private final Map<HeldMemory.FileId, ArenaReading> arenas = new HashMap<>();

    /** Pids, in this process's namespace, of the ends of the connections that are watched, also after their end. */
    private final Map<ProcessId, Integer> seen = new HashMap<>();

    private List<MemoryHolder> holders = List.of();
    /** The holders that still lived when the last report was made; the last scan may be older. */
    private Set<Integer> living = Set.of();

    private long intervals;

    TopWatch(ProcFolder folder) {
        this.folder = folder;
    }

    /** Watches the processes that this user may look at. */
    public static TopWatch ofThisHost() {
        return of(Path.of("/proc"));
    }

    /** Watches the processes of a folder like {@code /proc}. */
    public static TopWatch of(Path folder) {
        return new TopWatch(new ProcFolder(folder));
    }

    /**
     * Watches for an interval of a second, or a little longer if there are very many connections.
     *
     * @param isLeft asked at least ten times a second
     * @return false if {@code isLeft} ended it
     * @throws IOException if the processes of this host cannot be listed
     */
    public boolean watch(BooleanSupplier isLeft) throws IOException, InterruptedException {
        long start = System.nanoTime();
        begin();
        while (true) {
            long before = System.nanoTime();
            sample();
            long after = System.nanoTime();
            if (isLeft.getAsBoolean()) {
                return false;
            }
            long left = start + INTERVAL_NANOS - after;
            if (left <= 0) {
                return true;
            }
            long pause = Math.max(PAUSES_A_SAMPLE * (after - before), SHORT_PAUSE_NANOS);
            if (isLeftWithin(Math.min(pause, left), isLeft)) {
                return false;
            }
        }
    }

    private static boolean isLeftWithin(long nanos, BooleanSupplier isLeft) throws InterruptedException {
        for (long end = System.nanoTime() + nanos; ; ) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            TimeUnit.NANOSECONDS.sleep(Math.min(left, KEY_NANOS));
            if (isLeft.getAsBoolean()) {
                return true;
            }
        }
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
        remember();
        arenas.clear();
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
            if (memory.name().endsWith(SHARED_ARENA)) {
                arena(memory).ifPresent(arena -> arenas.put(memory.file(), arena));
            }
        }
    }

    private void remember() {
        Set<ProcessId> named = watched.values().stream()
                .flatMap(connection -> connection.reading().stream())
                .flatMap(reading -> Stream.of(reading.server(), reading.client()))
                .collect(Collectors.toSet());
        holders.forEach(holder -> {
            named.add(holder.id());
            seen.put(holder.id(), holder.pid());
        });
        seen.keySet().retainAll(named);
    }

    private static Optional<WatchedConnection> open(HeldMemory memory) {
        try {
            return observed(memory).map(WatchedConnection::of);
        } catch (InvalidMemoryException e) {
            return Optional.of(WatchedConnection.invalid(e.getMessage()));
        } catch (IOException e) {
            // The process has closed it meanwhile.
            return Optional.empty();
        }
    }

    private static Optional<? extends ObservedConnection> observed(HeldMemory memory)
            throws IOException, InvalidMemoryException {
        if (memory.isGrpc()) {
            return PipeConnectionMemory.open(memory.path());
        }
        return memory.isInPool()
                ? ConnectionMemory.open(memory.path(), memory.windows().getFirst())
                : ConnectionMemory.open(memory.path());
    }

    private static Optional<ArenaReading> arena(HeldMemory memory) {
        try {
            return ArenaMemory.read(memory.path());
        } catch (IOException e) {
            // The process has closed it meanwhile.
            return Optional.empty();
        }
    }

    /** Reads all connections once. */
    void sample() {
        watched.values().forEach(WatchedConnection::sample);
    }

    /** Whether the process with that pid runs. */
    public boolean isAlive(int pid) {
        return folder.isAlive(pid);
    }

    /**
     * What was seen in the present interval.
     *
     * @param channel a part of the names of the channels to show
     */
    public TopReport report(String channel, TopOrder order) {
        living = holders.stream().map(MemoryHolder::pid).filter(folder::isAlive).collect(Collectors.toSet());
        List<TopReport.ConnectionRow> connections = new ArrayList<>();
        watched.forEach((file, connection) -> {
            List<MemoryHolder> ends = endsOf(file);
            connections.add(row(connection, memoryOf(file, ends), ends));
        });
        List<TopReport.ProcessRow> processes = holders.stream()
                .filter(holder -> living.contains(holder.pid()))
                .map(TopWatch::process)
                .toList();
        return new TopReport(processes, connections, folder.unreadable())
                .ofChannels(channel)
                .sorted(order);
    }

    private static TopReport.ProcessRow process(MemoryHolder holder) {
        long bytes = holder.memory().stream().mapToLong(HeldMemory::bytes).sum();
        return TopReport.ProcessRow.of(holder.pid(), holder.name(), bytes);
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
        String id = memory.file().toString();
        List<Integer> pids = ends.stream().map(MemoryHolder::pid).toList();
        if (reading.isEmpty()) {
            String why = connection.problem().orElse("it was not read");
            return TopReport.ConnectionRow.invalid(id, memory.name(), pids, memory.bytes(), why);
        }
        ConnectionReading now = reading.get();
        List<TopReport.ArenaUse> arenas =
                connection.arenas().stream().map(TopWatch::use).toList();
        return new TopReport.ConnectionRow(
                id,
                memory.name(),
                memory.isInPool() ? pidAt(memory, true, ends) : pid(now.server(), ends),
                memory.isInPool() ? pidAt(memory, false, ends) : pid(now.client(), ends),
                pids,
                transport(memory, now),
                // Another host's process numbers say nothing here.
                memory.isInPool() ? nameOf(now.state()) : state(now, ends),
                connection.rate(),
                now.requests(),
                connection.meanMicros(),
                connection.percentileMicros(0.5),
                connection.percentileMicros(0.99),
                connection.inFlight(),
                now.slots(),
                now.sleeping(),
                now.isPolled(),
                connection.waits(),
                memory.bytes(),
                arenas.stream().findFirst(),
                arenas.stream().skip(1).findFirst(),
                sharedArena(memory, ends),
                Optional.empty());
    }

    private static TopReport.ArenaUse use(ArenaReading arena) {
        return new TopReport.ArenaUse(arena.takenBytes(), arena.quotaBytes());
    }

    private Optional<TopReport.ArenaUse> sharedArena(HeldMemory memory, List<MemoryHolder> ends) {
        return memory.isGrpc()
                ? Optional.empty()
                : ends.stream()
                        .flatMap(end -> end.memory().stream())
                        .filter(each ->
                                each.name().equals(memory.name() + SHARED_ARENA) && arenas.containsKey(each.file()))
                        .findFirst()
                        .map(each -> use(arenas.get(each.file())));
    }

    /** Over RDMA and TCP each end has memory of its own, which does not name the other process. */
    private static String transport(HeldMemory memory, ConnectionReading reading) {
        boolean namesBoth = reading.server().isKnown() && reading.client().isKnown();
        if (memory.isGrpc()) {
            return namesBoth ? TopReport.GRPC : TopReport.GRPC_REMOTE;
        }
        Optional<Route.Kind> route = reading.route().filter(kind -> !namesBoth || kind == Route.Kind.POOL);
        if (route.isPresent()) {
            return route.get().name();
        }
        if (!reading.server().isKnown() && !reading.client().isKnown()) {
            return "UNKNOWN";
        }
        if (!namesBoth) {
            return "REMOTE";
        }
        return reading.server().equals(reading.client()) ? "PROCESS" : "HOST";
    }

    /** The process that the memory names, if it really holds the memory. */
    private Optional<Integer> pid(ProcessId named, List<MemoryHolder> ends) {
        return holder(named, ends).filter(living::contains);
    }

    /** The process of this host at one end of a connection in a pool; it may be on another host. */
    private Optional<Integer> pidAt(HeldMemory memory, boolean isServer, List<MemoryHolder> ends) {
        return ends.stream()
                .filter(end -> end.memory().stream()
                        .anyMatch(each -> each.file().equals(memory.file()) && each.isEnd(isServer)))
                .map(MemoryHolder::pid)
                .filter(living::contains)
                .findFirst();
    }

    private static Optional<Integer> holder(ProcessId named, List<MemoryHolder> ends) {
        return ends.stream()
                .filter(end -> end.id().matches(named))
                .map(MemoryHolder::pid)
                .findFirst();
    }

    /** A dead process's peer keeps the memory until it notices. */
    private String state(ConnectionReading reading, List<MemoryHolder> ends) {
        if (isGone(reading.server(), ends)) {
            return "server gone";
        }
        if (isGone(reading.client(), ends)) {
            return "client gone";
        }
        return nameOf(reading.state());
    }

    private static String nameOf(ConnectionState state) {
        return state.name().toLowerCase(Locale.ROOT);
    }

    private boolean isGone(ProcessId named, List<MemoryHolder> ends) {
        return named.isKnown()
                && holder(named, ends).map(pid -> !living.contains(pid)).orElseGet(() -> isDead(named));
    }

    /** Whether a process that holds the memory no more, or is another user's, is known to be dead. */
    private boolean isDead(ProcessId named) {
        boolean isOfMyNamespace = named.namespace() == ProcessId.current().namespace() || named.namespace() == 0;
        return Optional.ofNullable(seen.get(named))
                .or(() -> isOfMyNamespace ? Optional.of(named.pid()) : Optional.empty())
                .filter(pid -> !folder.isAlive(pid))
                .isPresent();
    }

    @Override
    public void close() throws IOException {
        for (WatchedConnection connection : watched.values()) {
            connection.close();
        }
        watched.clear();
    }
}
