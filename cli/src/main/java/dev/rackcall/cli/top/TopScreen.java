package dev.rackcall.cli.top;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A terminal that shows one page, redrawn in place, and gives keys without Enter. For one thread. */
final class TopScreen implements AutoCloseable {
    private static final String ESC = "\u001b[";
    /** The second screen, without a cursor, lines cut at the border. */
    private static final String BEGIN = ESC + "?1049h" + ESC + "?25l" + ESC + "?7l";

    private static final String END = ESC + "?7h" + ESC + "?25h" + ESC + "?1049l";
    private static final int USUAL_ROWS = 24;
    private static final long SECONDS = 5;
    /** Asking for the size starts a program, which takes about as much processor time as the rest of a second's work. */
    private static final int DRAWS_A_SIZE = 4;

    private final PrintWriter out;
    /** The terminal's settings as {@code stty -g} gave them; empty if it gave none. */
    private final String settings;

    private int draws;
    private int rows = USUAL_ROWS;

    private final Thread restoring = Thread.ofPlatform().unstarted(this::restore);

    private TopScreen(PrintWriter out) {
        this.out = out;
        this.settings = stty("-g");
    }

    /** How many lines fit, by a size that is at most a few calls old: a terminal's size changes. */
    int lines() {
        if (draws++ % DRAWS_A_SIZE == 0) {
            String[] size = stty("size").split(" ");
            rows = size[0].matches("[1-9][0-9]{0,3}") ? Integer.parseInt(size[0]) : USUAL_ROWS;
        }
        return rows - 1;
    }

    /** Takes over the terminal until it is closed or the JVM ends. */
    static TopScreen open(PrintWriter out) {
        TopScreen screen = new TopScreen(out);
        Runtime.getRuntime().addShutdownHook(screen.restoring);
        if (!screen.settings.isEmpty()) {
            stty("-icanon", "-echo");
        }
        out.print(BEGIN);
        out.flush();
        return screen;
    }

    /** Shows these lines, at most {@link #lines}. */
    void show(List<String> lines) {
        StringBuilder page = new StringBuilder(ESC + "H");
        for (String line : lines) {
            page.append(line).append(ESC).append("K\r\n");
        }
        out.print(page.append(ESC).append('J'));
        out.flush();
    }

    private void restore() {
        out.print(END);
        out.flush();
        if (!settings.isEmpty()) {
            stty(settings);
        }
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(restoring);
        restore();
    }

    /** What stty prints for the terminal at standard input; nothing if it fails. Then keys need an Enter. */
    private static String stty(String... arguments) {
        try {
            ProcessBuilder builder = new ProcessBuilder("stty")
                    .redirectInput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.DISCARD);
            builder.command().addAll(List.of(arguments));
            Process process = builder.start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            return process.waitFor(SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0 ? said : "";
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }
}
