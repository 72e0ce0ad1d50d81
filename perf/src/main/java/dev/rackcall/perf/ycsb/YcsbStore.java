package dev.rackcall.perf.ycsb;

import dev.rackcall.perf.harness.InParallel;
import dev.rackcall.perf.harness.Launch;
import dev.rackcall.perf.harness.MeasuredClient;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.ToLongFunction;

/** A peer's server with its records, and the processes with client threads. Confined to one thread. */
final class YcsbStore implements AutoCloseable {
    /** As users start them, but so many JVMs must not each take a quarter of the memory. */
    private static final Launch LAUNCH = Launch.asUsersDo().withHeap(List.of("-Xmx1g"));

    private static final int STARTERS = 2;
    private static final int THREADS = 4;
    private static final long LOAD_NANOS = 60_000_000_000L;
    /** The time within which every process gets its order and waits for the start. */
    private static final long LEAD_NANOS = 50_000_000;

    private final MeasuredProcess<ServerSide> server;
    private final List<MeasuredProcess<MeasuredClient>> clients = new ArrayList<>();

    /** Starts all processes. */
    YcsbStore(Subject subject, Path directory, int processes) throws IOException {
        server = MeasuredProcess.server(subject, directory, LAUNCH);
        try {
            InParallel.run(STARTERS, Collections.nCopies(processes, () -> {
                MeasuredProcess<MeasuredClient> client = MeasuredProcess.client(subject, directory, LAUNCH);
                synchronized (clients) {
                    clients.add(client);
                }
                return client;
            }));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Inserts the records from all processes. */
    void load(int records) {
        List<Callable<Boolean>> parts = new ArrayList<>();
        for (int i = 0; i < clients.size(); i++) {
            MeasuredProcess<MeasuredClient> client = clients.get(i);
            int part = i;
            int all = clients.size();
            parts.add(() -> client.ask(LOAD_NANOS, side -> {
                ((YcsbClient) side.side()).load(records, part, all, THREADS);
                return true;
            }));
        }
        InParallel.run(parts.size(), parts);
    }

    /** All processes do transactions for so long. */
    void warmUp(YcsbWorkload workload, long nanos) {
        run(workload, clients.size(), THREADS, nanos);
    }

    /** All threads of the case do transactions in the same span of time; latencies are those of the worst process. */
    Result measure(YcsbCase each, long nanos) {
        List<Measurement> parts = run(each.workload(), each.processes(), each.threads(), nanos);
        double perSecond = parts.stream().mapToDouble(Measurement::opsPerS).sum();
        Measurement all = new Measurement(
                longest(parts, Measurement::p50Ns),
                longest(parts, Measurement::p99Ns),
                longest(parts, Measurement::p999Ns),
                parts.stream().mapToLong(Measurement::minNs).min().orElseThrow(),
                longest(parts, Measurement::maxNs),
                parts.stream().mapToLong(Measurement::count).sum(),
                perSecond);
        return Result.of(each.subject().name(), BenchTarget.YCSB, each.processes() * each.threads(), 0, all)
                .with("worst_ops_per_s", perSecond);
    }

    private List<Measurement> run(YcsbWorkload workload, int processes, int threads, long nanos) {
        long start = System.nanoTime() + LEAD_NANOS;
        return InParallel.run(
                processes,
                clients.subList(0, processes).stream()
                        .<Callable<Measurement>>map(client -> () -> client.ask(
                                nanos, side -> ((YcsbClient) side.side()).run(workload, threads, start, start + nanos)))
                        .toList());
    }

    private static long longest(List<Measurement> parts, ToLongFunction<Measurement> latency) {
        return parts.stream().mapToLong(latency).max().orElseThrow();
    }

    @Override
    public void close() {
        clients.forEach(MeasuredProcess::close);
        server.close();
    }
}
