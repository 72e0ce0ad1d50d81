package dev.rackcall.perf.crowd;

import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;

/**
 * One measurement of a crowd.
 *
 * @param clients what each client measured
 * @param window the time in which all of them called
 * @param processorTime of the server and all clients in that time
 */
record CrowdRun(List<Measurement> clients, Duration window, Duration processorTime) {
    /** The run as a result: all calls together, and the latencies of the clients that waited longest. */
    Result result(String name) {
        double perSecond = callsPerSecond();
        double slowestToFastest =
                (double) calls().min().orElseThrow() / calls().max().orElseThrow();
        double processorSeconds = seconds(processorTime) * 1e6 / calls().sum();
        Measurement crowd = Measurement.together(clients, perSecond);
        return Result.of(name, BenchTarget.CROWD, clients.size(), CrowdPeer.BYTES, crowd)
                .with("worst_ops_per_s", perSecond)
                .with("worst_p99_ns", crowd.p99Ns())
                .with("slowest_to_fastest", slowestToFastest)
                .with("worst_slowest_to_fastest", slowestToFastest)
                .with("cpu_s_per_million", processorSeconds)
                .with("worst_cpu_s_per_million", processorSeconds);
    }

    /** Of all clients together. */
    double callsPerSecond() {
        return calls().sum() / seconds(window);
    }

    private LongStream calls() {
        return clients.stream().mapToLong(Measurement::count);
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }
}
