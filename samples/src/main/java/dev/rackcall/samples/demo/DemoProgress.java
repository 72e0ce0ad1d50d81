package dev.rackcall.samples.demo;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Reports progress: on a terminal in one line that changes, otherwise in a line every few seconds. Used by one thread.
 */
public final class DemoProgress {
    private static final long TERMINAL_NANOS = 200_000_000L;
    private static final long LINES_NANOS = 5_000_000_000L;
    private static final int WIDTH = 70;

    private final PrintWriter out;
    private final boolean terminal = isTerminal();
    private long last = System.nanoTime();

    /** Writes to {@code out}, which must write to the standard error stream. */
    public DemoProgress(PrintWriter out) {
        this.out = out;
    }

    private static boolean isTerminal() {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
        } catch (IOException e) {
            return false;
        }
    }

    /** Reports that {@code done} of {@code total} items are done; a total of 0 means unknown. */
    void report(String what, long done, long total) {
        long now = System.nanoTime();
        if (now - last < (terminal ? TERMINAL_NANOS : LINES_NANOS)) {
            return;
        }
        last = now;
        String of = total > 0 ? String.format(Locale.ROOT, " of %,d", total) : "";
        String text = done > 0 ? String.format(Locale.ROOT, "%s: %,d%s", what, done, of) : what;
        out.printf(terminal ? "\r%-" + WIDTH + "s" : "rackcall demo: %s%n", text);
        out.flush();
    }

    /** Removes the line that changes. */
    void end() {
        if (terminal) {
            out.print("\r" + " ".repeat(WIDTH) + "\r");
            out.flush();
        }
    }
}
