package dev.rackcall.perf.ycsb;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.LatencyRecorder;
import dev.rackcall.perf.result.Measurement;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/** The client threads of one process, which run YCSB's workloads. Confined to one thread. */
final class YcsbClient implements ClientSide {
    private final YcsbPeer.Connection connection;
    private final Map<YcsbWorkload, CoreWorkload> workloads = new EnumMap<>(YcsbWorkload.class);
    private final List<RecordDb> bindings = new ArrayList<>();
    private int records;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    YcsbClient(YcsbPeer.Connection connection) {
        this.connection = connection;
    }

    /**
     * Inserts a process's part of the records.
     *
     * @param all number of records in the store
     * @param part from 0 on
     * @param parts how many processes insert
     */
    void load(int all, int part, int parts, int threadCount) throws Exception {
        records = all;
        int first = (int) ((long) all * part / parts);
        int end = (int) ((long) all * (part + 1) / parts);
        Properties properties = YcsbWorkload.A.properties(records);
        properties.setProperty("insertstart", Integer.toString(first));
        properties.setProperty("insertcount", Integer.toString(end - first));
        CoreWorkload workload = started(properties);
        List<Future<?>> inserting = new ArrayList<>();
        for (int i = 0; i < threadCount; i++) {
            RecordDb binding = binding(i);
            int count = (end - first) / threadCount + (i < (end - first) % threadCount ? 1 : 0);
            inserting.add(threads.submit(() -> {
                for (int record = 0; record < count; record++) {
                    if (!workload.doInsert(binding, null)) {
                        throw new BenchFailure("a record was not inserted");
                    }
                }
            }));
        }
        for (Future<?> each : inserting) {
            got(each);
        }
    }

    /**
     * Runs transactions from {@code startNanos} to {@code endNanos}, on the clock that all processes of the machine share.
     * If a transaction ends later, the rate is over the longer time.
     *
     * @param most transactions of each thread, after which it ends early
     */
    Measurement run(YcsbWorkload kind, int threadCount, long startNanos, long endNanos, long most) throws Exception {
        CoreWorkload workload = workload(kind);
        AtomicLong latestEnd = new AtomicLong(endNanos);
        List<Future<LatencyRecorder>> parts = new ArrayList<>();
        for (int i = 0; i < threadCount; i++) {
            RecordDb binding = binding(i);
            parts.add(threads.submit(() -> transactions(workload, binding, startNanos, endNanos, most, latestEnd)));
        }
        LatencyRecorder all = new LatencyRecorder();
        for (Future<LatencyRecorder> part : parts) {
            all.add(got(part));
        }
        Measurement measurement = all.measurement();
        return all.measurement(measurement.count() * 1e9 / (latestEnd.get() - startNanos));
    }

    private static LatencyRecorder transactions(
            CoreWorkload workload, RecordDb binding, long startNanos, long endNanos, long most, AtomicLong latestEnd) {
        for (long left = startNanos - System.nanoTime(); left > 0; left = startNanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        LatencyRecorder recorder = new LatencyRecorder();
        long begin = System.nanoTime();
        long last = begin;
        long count = 0;
        do {
            workload.doTransaction(binding, null);
            long now = System.nanoTime();
            recorder.record(now - last);
            last = now;
            count++;
        } while (last < endNanos && count < most);
        latestEnd.accumulateAndGet(last, Math::max);
        recorder.add(count, last - begin);
        return recorder;
    }

    /** A transaction of workload A. */
    @Override
    public void call(long sequence) throws Exception {
        workload(YcsbWorkload.A).doTransaction(binding(0), null);
    }

    private CoreWorkload workload(YcsbWorkload kind) throws WorkloadException {
        CoreWorkload workload = workloads.get(kind);
        if (workload == null) {
            workload = started(kind.properties(records));
            workloads.put(kind, workload);
        }
        return workload;
    }

    private static CoreWorkload started(Properties properties) throws WorkloadException {
        Measurements.setProperties(properties);
        CoreWorkload workload = new CoreWorkload();
        workload.init(properties);
        return workload;
    }

    private RecordDb binding(int thread) throws Exception {
        while (bindings.size() <= thread) {
            bindings.add(new RecordDb(connection.service(), YcsbWorkload.FIELDS));
        }
        return bindings.get(thread);
    }

    private static <T> T got(Future<T> part) throws Exception {
        try {
            return part.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        connection.close();
    }
}
