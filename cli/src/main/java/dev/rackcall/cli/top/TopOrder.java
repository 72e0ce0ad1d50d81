package dev.rackcall.cli.top;

import java.util.Comparator;

/** By what the connections of a report are sorted. */
public enum TopOrder {
    /** The busiest first. */
    RATE(Comparator.comparingDouble(TopReport.ConnectionRow::requestsPerSecond).reversed()),
    /** The slowest first; of connections whose requests take longer than a second, those with the most first. */
    MEAN(Comparator.comparingDouble((TopReport.ConnectionRow each) ->
                    each.meanMicros().orElse(each.outlastsASecond() ? each.inFlight() * 1e6 : 0))
            .reversed()),
    /** The highest median first. */
    P50(Comparator.comparingDouble(
                    (TopReport.ConnectionRow each) -> each.p50Micros().orElse(0.0))
            .reversed()),
    /** The highest 99th percentile first. */
    P99(Comparator.comparingDouble(
                    (TopReport.ConnectionRow each) -> each.p99Micros().orElse(0.0))
            .reversed()),
    /** Those with the most memory first. */
    MEMORY(Comparator.comparingLong(TopReport.ConnectionRow::memoryBytes).reversed()),
    /** Those whose arenas have taken the most bytes first. */
    ARENAS(Comparator.comparingLong(TopReport.ConnectionRow::arenaBytes).reversed()),
    /** By their servers' pids. */
    SERVER(Comparator.comparingInt(each -> each.serverPid().orElse(Integer.MAX_VALUE))),
    /** By name. */
    CHANNEL(Comparator.comparing(TopReport.ConnectionRow::channel));

    private final Comparator<TopReport.ConnectionRow> comparator;

    TopOrder(Comparator<TopReport.ConnectionRow> comparator) {
        this.comparator = comparator;
    }

    /** The order, with equal ones by channel and client, so that rows do not jump. */
    Comparator<TopReport.ConnectionRow> comparator() {
        return comparator
                .thenComparing(TopReport.ConnectionRow::channel)
                .thenComparing(each -> each.serverPid().orElse(0))
                .thenComparing(each -> each.clientPid().orElse(0));
    }
}
