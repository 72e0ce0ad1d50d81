package dev.rackcall.cli.top;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What {@code top} shows on a terminal, and the keys that change it. For one thread. */
final class TopPage {
    private static final char ESCAPE = 27;
    private static final char BACKSPACE = 8;
    private static final char DELETE = 127;
    private static final int MOST_TYPED = 60;

    private TopOrder order;
    private String channel;
    /** The text of a filter that is being typed. */
    private Optional<String> typed = Optional.empty();

    private Optional<TopReport> report = Optional.empty();
    private boolean left;

    /** @param channel shows only channels whose names contain it */
    TopPage(TopOrder order, String channel) {
        this.order = order;
        this.channel = channel;
    }

    /** Shows the interval that has just ended. */
    void update(TopWatch watch) {
        show(watch.report("", order));
    }

    /** Shows a report of all channels, also if the filter changes later. */
    void show(TopReport all) {
        report = Optional.of(all);
    }

    /** Takes the keys that wait; returns whether there were any. */
    boolean read(InputStream keys) {
        try {
            boolean any = false;
            while (!left && keys.available() > 0) {
                char key = (char) keys.read();
                if (key == ESCAPE && keys.available() > 0) {
                    escape(keys, (char) keys.read());
                } else {
                    press(key);
                }
                any = true;
            }
            return any;
        } catch (IOException e) {
            // The terminal is gone.
            left = true;
            return false;
        }
    }

    /** A terminal sends an arrow or function key as a sequence, which ends at the first letter and means nothing here. */
    private void escape(InputStream keys, char next) throws IOException {
        if (next != '[' && next != 'O') {
            press(ESCAPE);
            press(next);
            return;
        }
        int last = 0;
        while (keys.available() > 0 && (last < '@' || last > '~')) {
            last = keys.read();
        }
    }

    private void press(char key) {
        if (typed.isPresent()) {
            typed = edit(typed.get(), key);
            return;
        }
        switch (key) {
            case 'q', 'Q' -> left = true;
            case 's' -> sort(1);
            case 'S' -> sort(-1);
            case '/' -> typed = Optional.of("");
            default -> {}
        }
    }

    private void sort(int step) {
        TopOrder[] all = TopOrder.values();
        order = all[Math.floorMod(order.ordinal() + step, all.length)];
    }

    /** The text after a key; empty if the key ends it. */
    private Optional<String> edit(String text, char key) {
        return switch (key) {
            case '\r', '\n' -> {
                channel = text;
                yield Optional.empty();
            }
            case ESCAPE -> Optional.empty();
            case BACKSPACE, DELETE -> Optional.of(text.substring(0, Math.max(0, text.length() - 1)));
            default -> Optional.of(key > ' ' && key < DELETE && text.length() < MOST_TYPED ? text + key : text);
        };
    }

    /** Whether q was pressed, or the terminal is gone. */
    boolean isLeft() {
        return left;
    }

    /** The page, in at most so many lines. It has no tables until the first interval is over. */
    List<String> lines(int most) {
        if (most < 1) {
            return List.of();
        }
        List<String> lines = new ArrayList<>();
        lines.add(typed.map(text ->
                        "Channels that contain: " + text + "_  (Enter shows them, Esc leaves the filter as it was)")
                .orElseGet(() -> "Sorted by " + order.name().toLowerCase(Locale.ROOT) + " (s: next column), channels: "
                        + (channel.isEmpty() ? "all" : "*" + channel + "*") + " (/: filter), q: quit"));
        report.map(all -> all.ofChannels(channel).sorted(order))
                .ifPresent(shown -> lines.addAll(TopTable.lines(shown, most - 1)));
        return lines;
    }
}
