package dev.rackcall.perf.objects;

import com.sun.management.ThreadMXBean;
import dev.rackcall.perf.harness.BenchArena;
import dev.rackcall.perf.result.Figures;
import dev.rackcall.perf.result.Micro;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Measures all subjects in one thread, in turns: in each round every subject runs for an equal time. The figure is the
 * median of the rounds. It counts the thread's processor time, so that other processes matter less.
 */
public final class ObjectsTarget {
    private static final int ROUNDS = 9;
    static final long MEMORY_BYTES = 32 << 20;
    private static final int WARM_UP_ROUNDS = 4;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Keeps the results of operations in use, so that the compiler removes nothing. */
    @SuppressWarnings("UnusedVariable")
    private static volatile long sink;

    private ObjectsTarget() {}

    /** All subjects; each runs for {@code nanos} altogether. */
    public static List<Micro> measure(long nanos) {
        try (BenchArena memory = new BenchArena(MEMORY_BYTES, MEMORY_BYTES)) {
            List<ObjectSubject> subjects = new ArrayList<>(DocumentSubjects.of(memory));
            subjects.addAll(RecordSubjects.of(memory));
            subjects.addAll(GraphSubjects.of(memory));
            return measure(subjects, nanos / (ROUNDS + WARM_UP_ROUNDS));
        }
    }

    private static List<Micro> measure(List<ObjectSubject> subjects, long turn) {
        double[][] nanos = new double[subjects.size()][ROUNDS];
        double[][] allocated = new double[subjects.size()][ROUNDS];
        for (int round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
            for (int i = 0; i < subjects.size(); i++) {
                ObjectSubject subject = subjects.get(i);
                long heap = THREADS.getCurrentThreadAllocatedBytes();
                long start = THREADS.getCurrentThreadCpuTime();
                long operations = runFor(subject.operation(), turn);
                double done = (double) operations * subject.times();
                if (round >= 0) {
                    nanos[i][round] = (THREADS.getCurrentThreadCpuTime() - start) / done;
                    allocated[i][round] = (THREADS.getCurrentThreadAllocatedBytes() - heap) / done;
                }
            }
        }
        List<Micro> results = new ArrayList<>();
        for (int i = 0; i < subjects.size(); i++) {
            double median = Figures.median(nanos[i]);
            double[] deviations = new double[ROUNDS];
            for (int round = 0; round < ROUNDS; round++) {
                deviations[round] = Math.abs(nanos[i][round] - median);
            }
            results.add(new Micro(
                    "objects-" + subjects.get(i).name(),
                    round(median),
                    round(Figures.median(deviations)),
                    round(Figures.median(allocated[i])),
                    subjects.get(i).bytes()));
        }
        return results;
    }

    /** Repeats an operation in growing batches until the time is up; returns how often it ran. */
    private static long runFor(LongSupplier operation, long nanos) {
        long end = System.nanoTime() + nanos;
        long done = 0;
        long sum = 0;
        int batch = 1;
        do {
            for (int i = 0; i < batch; i++) {
                sum += operation.getAsLong();
            }
            done += batch;
            batch = Math.min(1 << 10, batch * 2);
        } while (System.nanoTime() < end);
        sink = sum;
        return done;
    }

    private static double round(double value) {
        return Math.round(value * 100) / 100.0;
    }
}
