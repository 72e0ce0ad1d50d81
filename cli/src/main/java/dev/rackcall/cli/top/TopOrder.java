package dev.rackcall.cli.top;

import java.util.Comparator;

/** By what the connections are sorted. */
enum TopOrder {
    RATE(Comparator.comparingDouble(TopReport.ConnectionRow::requestsPerSecond).reversed()),
    MEAN(Comparator.comparingDouble(
                    (TopReport.ConnectionRow each) -> each.meanMicros().orElse(0.0))
            .reversed()),
    MEMORY(Comparator.comparingLong(TopReport.ConnectionRow::memoryBytes).reversed()),
    SERVER(Comparator.comparingInt(each -> each.serverPid().orElse(Integer.MAX_VALUE))),
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
