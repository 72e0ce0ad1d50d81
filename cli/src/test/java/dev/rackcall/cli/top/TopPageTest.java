package dev.rackcall.cli.top;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.cli.RackcallCommand;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The keys of {@code rackcall top}, on a terminal made by script(1). */
@Timeout(300)
class TopPageTest {
    /** Runs its arguments on a terminal. */
    private static final List<String> TERMINAL = List.of(
            "sh", "-c", "for each; do line=\"$line '$each'\"; done; exec script -qec \"exec $line\" /dev/null", "top");

    /** Begins a page. */
    private static final String PAGE = "\u001b[H";

    @TempDir
    private Path runtime;

    @Test
    void shouldSortFilterAndQuitAtAKey() throws Exception {
        boolean hasScript = new ProcessBuilder("sh", "-c", "command -v script >/dev/null")
                        .start()
                        .waitFor()
                == 0;
        if (!hasScript) {
            System.err.println("SKIPPED TopPageTest: this host has no script(1), of the package bsdutils");
        }
        assumeThat(hasScript).isTrue();
        String channel = "/top/keys" + ProcessHandle.current().pid();
        try (ChildJvm server = ChildJvm.start(TopServerChild.class, runtime, channel);
                ChildJvm top = ChildJvm.of(RackcallCommand.class, "top", "--channel", channel)
                        .environment("SHELL", "/bin/sh")
                        .behind(TERMINAL)
                        .start()) {
            server.awaitLine("serving");
            try (ChildJvm client = ChildJvm.start(TopClientChild.class, runtime, channel)) {
                client.awaitLine("calling");
                awaitPage(top, "Sorted by rate (s: next column), channels: *" + channel + "*", "1 connection,");
                top.send("s");
                awaitPage(top, "Sorted by mean ", "1 connection,");
                top.send("SS");
                awaitPage(top, "Sorted by channel ", "1 connection,");
                top.send("//no/such");
                awaitPage(top, "channels: */no/such*", "0 connections,");
                top.send("/typed and left\u001b");
                top.send("/" + channel + "x\u007f");
                awaitPage(top, "channels: *" + channel + "*", "1 connection,");
                assertThat(top.isAlive()).isTrue();
                top.send("q");
                assertThat(top.awaitEnd()).isZero();
                assertThat(top.output()).endsWith("\u001b[?1049l\n");
            }
        }
    }

    @Test
    void shouldShowTheFilterWhileItIsTyped() {
        TopPage page = new TopPage(TopOrder.RATE, "");
        page.show(new TopReport(List.of(), List.of(), 0));
        assertThat(press(page, "/\u001b/sho\u007fop")).startsWith("Channels that contain: shop_ ");
        assertThat(press(page, "q\n")).startsWith("Sorted by rate ").contains("channels: *shopq* ");
        assertThat(page.isLeft()).isFalse();
        assertThat(press(page, "/\nqs")).startsWith("Sorted by rate ").contains("channels: all ");
        assertThat(page.isLeft()).isTrue();
    }

    /** F2 and the left arrow. */
    @Test
    void shouldIgnoreEscapeSequences() {
        TopPage page = new TopPage(TopOrder.RATE, "");
        assertThat(press(page, "\u001bOQ")).startsWith("Sorted by rate ");
        assertThat(page.isLeft()).isFalse();
        assertThat(press(page, "/ab\u001b[Dc\n")).contains("channels: *abc* ");
        assertThat(press(page, "\u001b[1;5Ss")).startsWith("Sorted by mean ");
    }

    @Test
    void shouldFilterAndSortTheReportAtOnce() {
        TopPage page = new TopPage(TopOrder.RATE, "");
        assertThat(page.lines(9)).as("before the first report").hasSize(1);
        page.show(TopTableTest.report(2, 2));
        press(page, "/number1\n");
        assertThat(page.lines(9))
                .anyMatch(line -> line.startsWith("2 processes, 1 connection,"))
                .anyMatch(line -> line.contains("/shop/number1;"))
                .noneMatch(line -> line.contains("/shop/number0;"));
        press(page, "/\nS");
        assertThat(page.lines(9)).anyMatch(line -> line.startsWith("2 processes, 2 connections,"));
    }

    private static String press(TopPage page, String keys) {
        assertThat(page.read(new ByteArrayInputStream(keys.getBytes(StandardCharsets.US_ASCII))))
                .isTrue();
        return page.lines(1).getFirst();
    }

    /** Waits until the last page contains all of these. */
    private static void awaitPage(ChildJvm top, String... parts) {
        Await.until("a page with " + String.join(" and ", parts), () -> {
            String page = top.output();
            page = page.substring(Math.max(0, page.lastIndexOf(PAGE)));
            return List.of(parts).stream().allMatch(page::contains);
        });
    }
}
