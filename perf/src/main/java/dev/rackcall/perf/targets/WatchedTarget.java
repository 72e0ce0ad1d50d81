package dev.rackcall.perf.targets;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.MeasuredClient;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.SubjectPair;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.io.IOException;
import java.nio.file.Path;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;

/**
 * A busy connection, alone and while {@code rackcall top} watches it, and the processor time of {@code top}.
 *
 * @param plan how long the connection is measured alone
 * @param phases how long {@code top} runs before and during the measurement
 */
public record WatchedTarget(BenchPlan plan, Workspace workspace, Phases phases) {
    private static final long SHOWN_BOUND_NANOS = TimeUnit.SECONDS.toNanos(100);
    private static final long SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /**
     * Lengths in nanoseconds. The connection is busy during all of them.
     *
     * @param start from the start of {@code top} until its processor time is read for the first time
     * @param settle after that, until the measurement
     * @param watched the measurement
     */
    public record Phases(long start, long settle, long watched) {
        /** The JVM's compiler has compiled what a second's work needs only after minutes. */
        public static final Phases USUAL =
                new Phases(TimeUnit.SECONDS.toNanos(10), TimeUnit.SECONDS.toNanos(110), TimeUnit.SECONDS.toNanos(20));
    }

    /** Whether this process knows {@code rackcall top}, and this host has the program that gives it a terminal. */
    public static boolean isPossible() {
        return TopProcess.isPossible();
    }

    /**
     * Measures a subject with a server process.
     *
     * @throws BenchFailure if {@code top} does not show calls of the connection before and after the measurement
     */
    public Result measure(Subject subject) throws IOException {
        long nanos = plan.durationNanos();
        long warmUp = plan.warmUpNanos();
        Path part = workspace.newPart();
        try (SubjectPair pair = SubjectPair.start(subject, part, plan.cores())) {
            MeasuredProcess<MeasuredClient> busy = pair.client();
            busy.ask(warmUp, side -> side.warmUp(warmUp));
            Measurement alone = slice(busy, nanos);
            long server =
                    pair.server().orElseThrow().ask(_ -> ProcessHandle.current().pid());
            long client = busy.ask(_ -> ProcessHandle.current().pid());
            try (TopProcess top = TopProcess.start(part.resolve("screen"))) {
                slice(busy, phases.start);
                double atStart = top.processorSeconds();
                slice(busy, phases.settle);
                awaitShown(top, busy, server, client);
                double before = top.processorSeconds();
                long start = System.nanoTime();
                Measurement watched = slice(busy, phases.watched);
                double elapsed = System.nanoTime() - start;
                double percent = 100e9 * (top.processorSeconds() - before) / elapsed;
                double shown = awaitShown(top, busy, server, client);
                return Result.of(subject.name() + "-watched", BenchTarget.IDLE, 1, subject.bytes(), watched)
                        .with("alone_p50_ns", alone.p50Ns())
                        .with("p50_ratio", (double) watched.p50Ns() / alone.p50Ns())
                        .with("top_start_cpu_s", atStart)
                        .with("top_cpu_percent", percent)
                        .with("top_requests_per_s", shown);
            }
        }
    }

    private static Measurement slice(MeasuredProcess<MeasuredClient> busy, long nanos) {
        return busy.ask(nanos, side -> side.slice(nanos));
    }

    /** Keeps the connection busy until {@code top} draws it anew, with calls; returns their rate. */
    private static double awaitShown(TopProcess top, MeasuredProcess<MeasuredClient> busy, long server, long client)
            throws IOException {
        long drawn = top.drawnBytes();
        long end = System.nanoTime() + SHOWN_BOUND_NANOS;
        while (System.nanoTime() - end < 0) {
            slice(busy, SLICE_NANOS);
            OptionalDouble shown = top.requestsPerSecond(drawn, server, client);
            if (shown.orElse(0) > 0) {
                return shown.getAsDouble();
            }
        }
        throw new BenchFailure("rackcall top showed no calls from process %d to process %d within %d s; it showed: %s"
                .formatted(client, server, TimeUnit.NANOSECONDS.toSeconds(SHOWN_BOUND_NANOS), top.lastPage()));
    }
}
