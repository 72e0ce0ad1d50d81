package dev.rackcall.perf;

import static dev.rackcall.perf.result.BenchTarget.ALOCK;
import static dev.rackcall.perf.result.BenchTarget.CONNECT;
import static dev.rackcall.perf.result.BenchTarget.CROWD;
import static dev.rackcall.perf.result.BenchTarget.ELASTIC;
import static dev.rackcall.perf.result.BenchTarget.GRPC;
import static dev.rackcall.perf.result.BenchTarget.IDLE;
import static dev.rackcall.perf.result.BenchTarget.ISOLATION;
import static dev.rackcall.perf.result.BenchTarget.METRICS;
import static dev.rackcall.perf.result.BenchTarget.OBJECTS;
import static dev.rackcall.perf.result.BenchTarget.RARE;
import static dev.rackcall.perf.result.BenchTarget.RDMA;
import static dev.rackcall.perf.result.BenchTarget.RTT;
import static dev.rackcall.perf.result.BenchTarget.START;
import static dev.rackcall.perf.result.BenchTarget.THROUGHPUT;
import static dev.rackcall.perf.result.BenchTarget.VERBS;

import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.result.BenchTarget;
import java.io.PrintWriter;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A target's part of {@code rackcall report}.
 *
 * @param seconds planned time, measured on two idle processors of an AMD EPYC after the earlier steps
 * @param repeat how often it measures
 * @param durationMillis length of one measurement
 * @param warmUpMillis the maximum length of a warm-up
 * @param names what it measures, separated by spaces; all of the target if there are none
 */
record ReportStep(BenchTarget target, int seconds, int repeat, int durationMillis, int warmUpMillis, String names) {
    private static final long MILLI = 1_000_000;

    /** At most three minutes. rtt is measured twice; all other figures once, so they need a 25 % change. */
    static final List<ReportStep> QUICK = List.of(
            new ReportStep(
                    RTT,
                    40,
                    2,
                    300,
                    800,
                    "raw-pingpong rackcall-noop rackcall-value-64 rackcall-ref-1048576 aeron-ipc grpc-uds"),
            new ReportStep(THROUGHPUT, 10, 1, 200, 800, "rackcall-noop aeron-ipc"),
            new ReportStep(CROWD, 25, 1, 500, 500, "crowd-rackcall-1 crowd-rackcall-4 crowd-uds-1 crowd-uds-4"),
            new ReportStep(RARE, 8, 1, 300, 500, "rare-rackcall-0.2 rare-rackcall-2 rare-uds-0.2 rare-uds-2"),
            new ReportStep(CONNECT, 12, 1, 300, 500, "rackcall-noop connect-cached connect-uncached connect-fresh-rc"),
            new ReportStep(START, 5, 1, 300, 500, "rackcall-noop"),
            new ReportStep(
                    ISOLATION, 14, 1, 300, 500, "trusted-1 snapshot-1 sealed-1 sealed-write-1 seal-release-1 memcpy-1"),
            new ReportStep(METRICS, 8, 1, 300, 500, "metrics-plain metrics-on"),
            new ReportStep(RDMA, 8, 1, 300, 800, "soft-pingpong rdma-noop"),
            new ReportStep(GRPC, 12, 1, 300, 800, "grpc-rackcall-64 grpc-uds-64 grpc-rackcall-bidi"),
            new ReportStep(
                    ALOCK, 6, 1, 300, 500, "alock-95-20 spin-95-20 mcs-95-20 alock-95-1000 spin-95-1000 mcs-95-1000"),
            new ReportStep(OBJECTS, 12, 1, 200, 200, ""));

    /** At most twenty minutes. */
    static final List<ReportStep> FULL = List.of(
            new ReportStep(RTT, 170, 3, 800, 2000, ""),
            new ReportStep(THROUGHPUT, 45, 1, 400, 1500, ""),
            new ReportStep(CROWD, 150, 3, 700, 1000, crowd()),
            new ReportStep(RARE, 60, 1, 500, 1000, ""),
            new ReportStep(CONNECT, 60, 1, 500, 1000, ""),
            new ReportStep(ELASTIC, 60, 1, 500, 500, ""),
            new ReportStep(IDLE, 80, 1, 500, 1000, "rackcall-noop grpc-uds"),
            new ReportStep(START, 15, 1, 500, 1000, "rackcall-noop grpc-uds"),
            new ReportStep(ISOLATION, 150, 1, 300, 800, ""),
            new ReportStep(METRICS, 20, 1, 800, 1500, ""),
            new ReportStep(VERBS, 10, 1, 800, 1500, ""),
            new ReportStep(RDMA, 60, 1, 800, 2000, ""),
            new ReportStep(GRPC, 80, 1, 800, 2000, ""),
            new ReportStep(ALOCK, 60, 1, 500, 500, ""),
            new ReportStep(OBJECTS, 30, 1, 500, 500, ""));

    private static String crowd() {
        return String.join(
                " ",
                Stream.of("rackcall", "uds", "grpc-uds", "grpc-rackcall", "aeron")
                        .flatMap(peer -> IntStream.of(1, 2, 4, 8, 16)
                                .filter(clients ->
                                        clients <= (peer.equals("aeron") ? 4 : peer.startsWith("grpc") ? 8 : 16))
                                .mapToObj(clients -> "crowd-" + peer + "-" + clients))
                        .toList());
    }

    BenchSelection selection() {
        return new BenchSelection(List.of(target), names.isEmpty() ? List.of() : List.of(names.split(" ")));
    }

    BenchRun run(PrintWriter progress) {
        BenchSelection selection = selection();
        return new BenchRun(
                selection,
                new BenchPlan(
                        selection.subjects(),
                        selection.locks(),
                        durationMillis * MILLI,
                        warmUpMillis * MILLI,
                        repeat,
                        OptionalDouble.empty(),
                        List.of(1, 8, 64),
                        Cores.choose(),
                        progress));
    }

    /** How it measured, for the section of the page. */
    String sentence() {
        return "Each measurement took %d ms%s%s."
                .formatted(
                        durationMillis,
                        target.isMicro() ? "" : ", after at most %d ms of warm-up".formatted(warmUpMillis),
                        repeat == 1 ? "; one run" : "; medians of " + repeat + " runs");
    }
}
