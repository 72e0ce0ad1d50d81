package dev.rackcall.perf;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What a client-side JVM can be told to do. Confined to its main thread. */
final class ClientOrders implements BenchChild.OrderHandler, AutoCloseable {
    /** Above this rate, reading the clock for every call would distort throughput. */
    private static final double SAMPLE_ALL_BELOW = 500_000;

    private static final int SAMPLE_EVERY = 64;
    /** Before each slice, so that both sides are awake and their memory is in the caches. */
    private static final long LEAD_IN_NANOS = 2_000_000;

    private final Subject subject;
    private final Path directory;
    private final ClientSide client;
    private final List<ClientSide> further = new ArrayList<>();
    private final ClosedLoop closed = new ClosedLoop(System::nanoTime);
    private final FixedRateLoop fixedRate = new FixedRateLoop(System::nanoTime);
    private final ThroughputLoop throughput = new ThroughputLoop(System::nanoTime);
    private LatencyRecorder slices = new LatencyRecorder();
    private long nextSequence = 1;
    private int sampleEvery = 1;

    ClientOrders(Subject subject, Path directory) throws Exception {
        this.subject = subject;
        this.directory = directory;
        this.client = subject.connect(directory);
    }

    @Override
    public Object handle(Order order) throws Exception {
        return switch (order.action()) {
            case WARM_UP ->
                WarmUp.of(order.nanos())
                        .run(nanos ->
                                counted(closed.run(client, nextSequence, nanos).measurement()));
            case CLOSED -> slice(order.nanos());
            case RESULT -> result();
            case FIXED_RATE ->
                counted(fixedRate
                        .run(client, nextSequence, order.nanos(), order.rate())
                        .measurement());
            case WARM_UP_PIPELINE -> warmUpPipeline(order);
            case THROUGHPUT -> throughput(client.pipeline(order.inFlight()), order.inFlight(), order.nanos());
            case ALLOCATION -> allocation(order.count());
            case ALLOCATED -> new Allocation(Allocation.ofOtherThreads(), 0);
            case FOOTPRINT -> Footprint.ofThisProcess();
            case OPEN -> open(order.count());
            case CLOSE -> closeFurther();
            case PAUSE, RESUME, QUIT ->
                throw new IllegalArgumentException("a client side does not know the order " + order.action());
        };
    }

    private Measurement counted(Measurement measurement) {
        nextSequence += measurement.count();
        return measurement;
    }

    private Measurement slice(long nanos) throws Exception {
        counted(closed.run(client, nextSequence, LEAD_IN_NANOS).measurement());
        LatencyRecorder slice = closed.run(client, nextSequence, nanos);
        slices.add(slice);
        return counted(slice.measurement());
    }

    private Measurement result() {
        Measurement measurement = slices.measurement();
        slices = new LatencyRecorder();
        return measurement;
    }

    private WarmUp.Outcome warmUpPipeline(Order order) throws Exception {
        Pipeline pipeline = client.pipeline(order.inFlight());
        sampleEvery = 1;
        WarmUp.Outcome outcome = WarmUp.of(order.nanos()).run(nanos -> {
            Measurement window = throughput(pipeline, order.inFlight(), nanos);
            sampleEvery = window.opsPerS() > SAMPLE_ALL_BELOW ? SAMPLE_EVERY : 1;
            return window;
        });
        return outcome;
    }

    private Measurement throughput(Pipeline pipeline, int depth, long nanos) throws Exception {
        Measurement measurement = throughput.run(pipeline, depth, sampleEvery, nextSequence, nanos);
        nextSequence += measurement.count() + depth;
        return measurement;
    }

    /** No clock and no histogram in this loop: what it allocates, the calls allocate. */
    private Allocation allocation(int calls) throws Exception {
        long before = Allocation.ofCurrentThread();
        for (int i = 0; i < calls; i++) {
            client.call(nextSequence++);
        }
        return new Allocation(Allocation.ofCurrentThread() - before, calls);
    }

    private Measurement open(int count) throws Exception {
        LatencyRecorder recorder = new LatencyRecorder();
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            ClientSide connection = subject.connect(directory);
            further.add(connection);
            connection.call(nextSequence++);
            recorder.record(System.nanoTime() - start);
        }
        recorder.add(count, System.nanoTime() - begin);
        return recorder.measurement();
    }

    private Measurement closeFurther() {
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
