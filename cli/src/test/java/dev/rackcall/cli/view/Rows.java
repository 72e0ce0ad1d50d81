package dev.rackcall.cli.view;

import dev.rackcall.cli.top.TopReport;
import dev.rackcall.cli.top.TopReport.ConnectionRow;
import dev.rackcall.cli.top.TopReport.ProcessRow;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Reports as {@code top} makes them. */
final class Rows {
    static final double RATE = 1000;

    private Rows() {}

    static String id(int number) {
        return "1-" + number;
    }

    static ConnectionRow connection(int number, String channel, int server, int client) {
        return connection(number, channel, Optional.of(server), Optional.of(client), "open");
    }

    static ConnectionRow connection(
            int number, String channel, Optional<Integer> server, Optional<Integer> client, String state) {
        return connection(number, channel, server, client, "HOST", state);
    }

    static ConnectionRow connection(
            int number,
            String channel,
            Optional<Integer> server,
            Optional<Integer> client,
            String transport,
            String state) {
        return new ConnectionRow(
                id(number),
                channel,
                server,
                client,
                Stream.of(server, client).flatMap(Optional::stream).toList(),
                transport,
                state,
                RATE,
                42,
                Optional.of(5.0),
                Optional.of(4.0),
                Optional.of(9.0),
                0.5,
                64,
                0,
                true,
                TopReport.WaitRates.NONE,
                4096,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /** With a process at each end. */
    static TopReport report(ConnectionRow... rows) {
        List<ProcessRow> processes = Stream.of(rows)
                .flatMap(row -> row.holders().stream())
                .distinct()
                .map(pid -> new ProcessRow(pid, "process" + pid, 1, 1, RATE, RATE, 4096))
                .toList();
        return new TopReport(processes, List.of(rows), 0);
    }
}
