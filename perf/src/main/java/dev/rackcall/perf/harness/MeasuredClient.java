package dev.rackcall.perf.harness;

import dev.rackcall.perf.result.Measurement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** The client side in its JVM: what orders can use. Confined to the main thread. */
public final class MeasuredClient implements AutoCloseable {
    /** Above this rate, reading the clock for every call would distort throughput. */
    private static final double SAMPLE_ALL_BELOW = 500_000;

    private static final int SAMPLE_EVERY = 64;
    /** Length of the calls before each slice, after which both sides are awake and their memory is in the caches. */
    private static final long LEAD_IN_NANOS = 2_000_000;

    private final Sides sides;
    private final Path directory;
    private final ClientSide client;
    private final List<ClientSide> further = new ArrayList<>();
    private final ClosedLoop closed = new ClosedLoop(System::nanoTime);
    private final FixedRateLoop fixedRate = new FixedRateLoop(System::nanoTime);
    private final ThroughputLoop throughput = new ThroughputLoop(System::nanoTime);
    private LatencyRecorder slices = new LatencyRecorder();
    private long nextSequence = 1;
    private int sampleEvery = 1;

    MeasuredClient(Sides sides, Path directory) throws Exception {
        this.sides = sides;
        this.directory = directory;
        this.client = sides.connect(directory);
    }

    /** What the subject connected. */
    public ClientSide side() {
        return client;
    }

    private Measurement counted(Measurement measurement) {
        nextSequence += measurement.count();
        return measurement;
    }

    /** Calls in a closed loop until the medians settle. */
    public WarmUp.Outcome warmUp(long mostNanos) throws Exception {
        return WarmUp.of(mostNanos)
                .run(nanos -> counted(closed.run(client, nextSequence, nanos).measurement()));
    }

    /** Calls in a closed loop until {@code mostCalls} calls were made or the time is up. */
    public boolean warmUp(long mostNanos, long mostCalls) throws Exception {
        long end = System.nanoTime() + mostNanos;
        long last = nextSequence + mostCalls;
        while (nextSequence < last && System.nanoTime() < end) {
            counted(closed.run(client, nextSequence, LEAD_IN_NANOS).measurement());
        }
        return nextSequence >= last;
    }

    /** Calls in a closed loop, and keeps the latencies for {@link #result}. */
    public Measurement slice(long nanos) throws Exception {
        counted(closed.run(client, nextSequence, LEAD_IN_NANOS).measurement());
        LatencyRecorder slice = closed.run(client, nextSequence, nanos);
        slices.add(slice);
        return counted(slice.measurement());
    }

    /**
     * Calls in a closed loop from one moment to another, both on the clock that all processes of the machine share. If
     * the client gets the processor only after the end, it still makes one call.
     */
    public Measurement between(long startNanos, long endNanos) throws Exception {
        for (long left = startNanos - System.nanoTime(); left > 0; left = startNanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        return counted(
                closed.run(client, nextSequence, endNanos - System.nanoTime()).measurement());
    }

    /** All slices since the last result. */
    public Measurement result() {
        Measurement measurement = slices.measurement();
        slices = new LatencyRecorder();
        return measurement;
    }

    /** Calls at a fixed rate. */
    public Measurement atRate(long nanos, double rate) throws Exception {
        return counted(fixedRate.run(client, nextSequence, nanos, rate).measurement());
    }

    /** Sleeps before each of {@code calls} calls. */
    public Measurement rarely(long gapNanos, int calls) throws Exception {
        return counted(client.rarely(nextSequence, gapNanos, calls).measurement());
    }

    /** Keeps calls in flight until the medians settle. */
    public WarmUp.Outcome warmUpPipeline(long mostNanos, int depth) throws Exception {
        Pipeline pipeline = client.pipeline(depth);
        sampleEvery = 1;
        return WarmUp.of(mostNanos).run(nanos -> {
            Measurement window = throughput(pipeline, depth, nanos);
            sampleEvery = window.opsPerS() > SAMPLE_ALL_BELOW ? SAMPLE_EVERY : 1;
            return window;
        });
    }

    /** Keeps calls in flight. */
    public Measurement throughput(long nanos, int depth) throws Exception {
        return throughput(client.pipeline(depth), depth, nanos);
    }

    private Measurement throughput(Pipeline pipeline, int depth, long nanos) throws Exception {
        Measurement measurement = throughput.run(pipeline, depth, sampleEvery, nextSequence, nanos);
        nextSequence += measurement.count() + depth;
        return measurement;
    }

    /**
     * Bytes of heap that the calling thread allocates for {@code calls} calls. The loop has no clock and no histogram:
     * the calls allocate all of it.
     */
    public long allocation(int calls) throws Exception {
        long before = HeapAllocation.ofCurrentThread();
        for (int i = 0; i < calls; i++) {
            client.call(nextSequence++);
        }
        return HeapAllocation.ofCurrentThread() - before;
    }

    /** Opens further connections, calls once on each and keeps them. */
    public Measurement open(int count) throws Exception {
        LatencyRecorder recorder = new LatencyRecorder();
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            ClientSide connection = sides.connect(directory);
            further.add(connection);
            connection.call(nextSequence++);
            recorder.record(System.nanoTime() - start);
        }
        recorder.add(count, System.nanoTime() - begin);
        return recorder.measurement();
    }

    public Measurement closeFurther() {
        LatencyRecorder recorder = new LatencyRecorder();
        long begin = System.nanoTime();
        int count = further.size();
        for (ClientSide connection : further) {
            long start = System.nanoTime();
            connection.close();
            recorder.record(System.nanoTime() - start);
        }
        further.clear();
        recorder.add(count, System.nanoTime() - begin);
        return recorder.measurement();
    }

    @Override
    public void close() {
        closeFurther();
        client.close();
    }
}
