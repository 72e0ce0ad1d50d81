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

/** A peer's server with its records, and the processes with client threads. Confined to one thread. */
final class YcsbStore implements AutoCloseable {
    /** As users start them, but so many JVMs must not each take a quarter of the memory. */
    private static final Launch LAUNCH = Launch.asUsersDo().withHeap(List.of("-Xmx1g"));

    private static final int STARTERS = 2;
    private static final int LOADING_THREADS = 4;
    /** After this many transactions, the JIT has compiled the code of a workload. */
    private static final int WARM_TRANSACTIONS = 20_000;

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
                ((YcsbClient) side.side()).load(records, part, all, LOADING_THREADS);
                return true;
            }));
        }
        InParallel.run(parts.size(), parts);
    }

    /**
     * Runs the workload on all processes until each has made the same number of transactions for every peer, for at most
     * {@code mostNanos}.
     *
     * @param threads of each process; each gets its connection now
     */
    void warmUp(YcsbWorkload workload, int threads, long mostNanos) {
        run(workload, clients.size(), threads, mostNanos, WARM_TRANSACTIONS / threads);
    }

    /** Runs the case for {@code nanos} on all its threads at the same time. Latencies are those of the worst process. */
    Result measure(YcsbCase each, long nanos) {
        List<Measurement> parts = run(each.workload(), each.processes(), each.threads(), nanos, Long.MAX_VALUE);
        double perSecond = parts.stream().mapToDouble(Measurement::opsPerS).sum();
        Measurement all = Measurement.together(parts, perSecond);
        return Result.of(each.subject().name(), BenchTarget.YCSB, each.processes() * each.threads(), 0, all)
                .with("worst_ops_per_s", perSecond);
    }

    private List<Measurement> run(
            YcsbWorkload workload, int processes, int threads, long nanos, long mostTransactions) {
        long start = System.nanoTime() + LEAD_NANOS;
        return InParallel.run(
                processes,
                clients.subList(0, processes).stream()
                        .<Callable<Measurement>>map(client -> () -> client.ask(
                                nanos,
                                side -> ((YcsbClient) side.side())
                                        .run(workload, threads, start, start + nanos, mostTransactions)))
                        .toList());
    }

    @Override
    public void close() {
        clients.forEach(MeasuredProcess::close);
        server.close();
    }
}
