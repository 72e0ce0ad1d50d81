package dev.rackcall.perf.crowd;

import dev.rackcall.perf.harness.InParallel;
import dev.rackcall.perf.harness.Launch;
import dev.rackcall.perf.harness.MeasuredClient;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.Measurement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A server's process and its clients', each with a connection of its own. Confined to one thread. */
final class Crowd implements AutoCloseable {
    /** A JVM uses one processor while it starts. */
    private static final int STARTERS = 2;
    /** The time within which every client gets its order and waits for the start. */
    private static final long LEAD_NANOS = 50_000_000;

    private static final long LEAD_NANOS_A_CLIENT = 5_000_000;

    /** After this many calls, the JIT has compiled the code of a call; the fastest subjects need some 50 ms. */
    private static final long WARM_CALLS = 20_000;

    private static final long WINDOW_NANOS = 1_000_000_000;
    private static final int CALM_WINDOWS = 3;
    private static final double GROWTH = 1.05;
    /** More than a client of any peer needs. */
    private static final long USUAL_KIB = 300 << 10;

    private static final Pattern AVAILABLE = Pattern.compile("MemAvailable:\\s*(\\d+) kB");

    private final Subject subject;
    private final Path directory;
    private final Launch launch;
    private final MeasuredProcess<ServerSide> server;
    private final List<MeasuredProcess<MeasuredClient>> clients = new ArrayList<>();
    private final List<MeasuredProcess<MeasuredClient>> idle = new ArrayList<>();

    /** Starts the server. */
    Crowd(Subject subject, Path directory, Launch launch) throws IOException {
        this.subject = subject;
        this.directory = directory;
        this.launch = launch;
        this.server = MeasuredProcess.server(subject, directory, launch);
    }

    /** Heap flags for this many processes; none if there is enough memory for their default heaps. */
    static List<String> heap(int processes) throws IOException {
        Matcher available = AVAILABLE.matcher(Files.readString(Path.of("/proc/meminfo")));
        boolean isEnough = available.find() && Long.parseLong(available.group(1)) / processes > USUAL_KIB;
        return isEnough ? List.of() : List.of("-Xmx128m", "-XX:+UseSerialGC");
    }

    /**
     * Starts clients until there are {@code count}. Each warms up as soon as it is connected, for at most {@code
     * mostNanos}.
     */
    void grow(int count, long mostNanos) {
        Callable<Boolean> start = () -> {
            MeasuredProcess<MeasuredClient> client = MeasuredProcess.client(subject, directory, launch);
            synchronized (clients) {
                clients.add(client); // even if it fails now, it must be closed
            }
            return client.ask(mostNanos, side -> side.warmUp(mostNanos, WARM_CALLS));
        };
        InParallel.run(STARTERS, Collections.nCopies(Math.max(0, count - clients.size()), start));
    }

    /** Starts a process that opens this many connections, and then no longer calls. */
    void connectIdle(int connections) throws IOException {
        MeasuredProcess<MeasuredClient> process = MeasuredProcess.client(subject, directory, launch);
        idle.add(process);
        // The process has one already.
        process.ask(side -> side.open(connections - 1));
    }

    /**
     * All clients call until their calls a second no longer grow, for at most {@code mostNanos}. Where the processes have
     * one processor, the JVMs' compilers compete with the calls for many seconds.
     */
    void settle(long mostNanos) {
        double best = 0;
        int calm = 0;
        for (long spent = 0; calm < CALM_WINDOWS && spent < mostNanos; spent += WINDOW_NANOS) {
            double rate = measure(WINDOW_NANOS).callsPerSecond();
            calm = rate > GROWTH * best ? 0 : calm + 1;
            best = Math.max(best, rate);
        }
    }

    /** All clients call in a closed loop in the same span of time. */
    CrowdRun measure(long nanos) {
        long start = System.nanoTime() + LEAD_NANOS + clients.size() * LEAD_NANOS_A_CLIENT;
        Duration before = processorTime();
        List<Measurement> measurements = InParallel.run(
                clients.size(),
                clients.stream()
                        .<Callable<Measurement>>map(client ->
                                () -> client.ask(nanos, side -> side.between(start, start + nanos)))
                        .toList());
        return new CrowdRun(
                measurements, Duration.ofNanos(nanos), processorTime().minus(before));
    }

    private Duration processorTime() {
        return Stream.concat(clients.stream(), idle.stream())
                .map(MeasuredProcess::processorTime)
                .reduce(server.processorTime(), Duration::plus);
    }

    @Override
    public void close() {
        clients.forEach(MeasuredProcess::close);
        idle.forEach(MeasuredProcess::close);
        server.close();
    }
}
