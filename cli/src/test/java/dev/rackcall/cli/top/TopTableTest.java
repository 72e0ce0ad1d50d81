package dev.rackcall.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cli.top.TopReport.ConnectionRow;
import dev.rackcall.cli.top.TopReport.ProcessRow;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** How the tables of {@code top} share a terminal. */
class TopTableTest {
    private static final int ROWS = 23;

    private static ConnectionRow row(
            String channel, double rate, Optional<Double> mean, double inFlight, long arenaBytes) {
        return new ConnectionRow(
                "1-1",
                channel,
                Optional.of(1000),
                Optional.of(1001),
                List.of(1000, 1001),
                "GRPC",
                "open",
                rate,
                42,
                mean,
                mean.map(micros -> 100 - micros),
                mean.map(micros -> 200 - micros),
                inFlight,
                64,
                0,
                true,
                new TopReport.WaitRates(1, 2, 3, 4),
                4096,
                Optional.of(new TopReport.ArenaUse(arenaBytes, 1 << 20)),
                Optional.empty(),
                Optional.of(new TopReport.ArenaUse(0, 1 << 20)),
                Optional.empty());
    }

    private static List<String> channels(TopOrder order, ConnectionRow... rows) {
        return new TopReport(List.of(), List.of(rows), 0)
                .sorted(order).connections().stream()
                        .map(ConnectionRow::channel)
                        .toList();
    }

    @Test
    void shouldSortByPercentilesAndArenas() {
        ConnectionRow fast = row("/fast", 9, Optional.of(1.0), 1, 10);
        ConnectionRow slow = row("/slow", 8, Optional.of(9.0), 1, 30);
        ConnectionRow open = row("/open", 0, Optional.empty(), 4, 20);

        assertThat(channels(TopOrder.RATE, open, slow, fast)).containsExactly("/fast", "/slow", "/open");
        assertThat(channels(TopOrder.MEAN, fast, slow, open)).containsExactly("/open", "/slow", "/fast");
        assertThat(channels(TopOrder.P50, open, slow, fast)).containsExactly("/fast", "/slow", "/open");
        assertThat(channels(TopOrder.P99, open, slow, fast)).containsExactly("/fast", "/slow", "/open");
        assertThat(channels(TopOrder.ARENAS, fast, open, slow)).containsExactly("/slow", "/open", "/fast");
    }

    /** Four open streams, say. */
    @Test
    void shouldShowThatRequestsInFlightTakeLongerThanASecond() {
        TopReport report = new TopReport(
                List.of(),
                List.of(
                        row("/streams", 0, Optional.empty(), 4, 0),
                        row("/ended", 0, Optional.empty(), 3.9, 0),
                        row("/brief", 0, Optional.empty(), 0.5, 0),
                        row("/rare", 10, Optional.empty(), 0.1, 0),
                        row("/idle", 0, Optional.empty(), 0, 0)),
                0);

        assertThat(TopTable.lines(report, ROWS))
                .anyMatch(line -> line.matches(".* /streams +0 +>1 s +- +- +4[.]0 .*"))
                .anyMatch(line -> line.matches(".* /ended +0 +- +- +- +3[.]9 .*"))
                .anyMatch(line -> line.matches(".* /brief +0 +- +- +- +0[.]5 .*"))
                .anyMatch(line -> line.matches(".* /rare +10 +- +- +- +0[.]1 .*"))
                .anyMatch(line -> line.matches(".* /idle +0 +- +- +- +0[.]0 .*"));
    }

    static TopReport report(int connections, int processes) {
        return new TopReport(
                IntStream.range(0, processes)
                        .mapToObj(i -> new ProcessRow(1000 + i, "process" + i + ";", 1, 1, 10, 10, 4096))
                        .toList(),
                IntStream.range(0, connections)
                        .mapToObj(i -> new ConnectionRow(
                                "1-" + i,
                                "/shop/number" + i + ";",
                                Optional.of(1000),
                                Optional.of(1001),
                                List.of(1000, 1001),
                                "HOST",
                                "open",
                                10,
                                42,
                                Optional.of(5.0),
                                Optional.of(4.0),
                                Optional.of(9.0),
                                0.5,
                                64,
                                0,
                                true,
                                new TopReport.WaitRates(1, 2, 3, 4),
                                4096,
                                Optional.of(new TopReport.ArenaUse(1, 4)),
                                Optional.of(new TopReport.ArenaUse(1, 2)),
                                Optional.empty(),
                                Optional.empty()))
                        .toList(),
                0);
    }

    @Test
    void shouldShowBothTablesWhateverTheyHold() {
        assertThat(TopTable.lines(report(100, 50), ROWS))
                .hasSize(ROWS)
                .anyMatch(line -> line.endsWith(" PROCESS"))
                .anyMatch(line -> line.endsWith("process4;"))
                .noneMatch(line -> line.endsWith("process5;"))
                .contains("... and 45 more processes")
                .anyMatch(line -> line.contains("/shop/number10;"))
                .anyMatch(line ->
                        line.matches(" +1000 +1001  /shop/number0; .* 1 +2 +3 +4 +yes +open +4 KiB +2 bytes +50%"))
                .noneMatch(line -> line.contains("/shop/number11;"))
                .contains("... and 89 more connections");
    }

    @Test
    void shouldAlignRowsWhateverTheirChannels() {
        assertThat(TopTable.lines(report(12, 0), ROWS).stream()
                        .filter(line -> line.contains("/shop/"))
                        .mapToInt(line -> line.indexOf(" open ")))
                .hasSize(12)
                .containsOnly(TopTable.lines(report(12, 0), ROWS).get(2).indexOf(" STATE "));
    }

    @Test
    void shouldGiveATableWhatTheOtherDoesNotNeed() {
        assertThat(TopTable.lines(report(100, 2), ROWS))
                .hasSize(ROWS)
                .anyMatch(line -> line.endsWith("process1;"))
                .anyMatch(line -> line.contains("/shop/number14;"))
                .contains("... and 85 more connections");
        assertThat(TopTable.lines(report(2, 100), ROWS))
                .hasSize(ROWS)
                .anyMatch(line -> line.contains("/shop/number1;"))
                .contains("... and 85 more processes");
        assertThat(TopTable.lines(report(9, 9), ROWS)).hasSize(ROWS).noneMatch(line -> line.startsWith("..."));
        assertThat(TopTable.lines(report(100, 100), Integer.MAX_VALUE)).hasSize(205);
    }

    @Test
    void shouldFitATinyTerminal() {
        for (int rows = 1; rows < ROWS; rows++) {
            assertThat(TopTable.lines(report(100, 50), rows)).hasSizeLessThanOrEqualTo(rows);
        }
    }
}
