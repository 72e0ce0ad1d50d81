package dev.rackcall.perf;

import java.util.Locale;

/** Figures as people read them: three digits and a unit. */
final class Figures {
    private static final String[] TIME = {"ns", "us", "ms", "s"};
    private static final String[] COUNT = {"", " k", " M", " G"};
    private static final String[] BYTES = {"B", "KiB", "MiB", "GiB", "TiB"};

    private Figures() {}

    static String time(double nanos) {
        return scaled(nanos, 1000, TIME, " ");
    }

    /** Operations a second. */
    static String rate(double perSecond) {
        return scaled(perSecond, 1000, COUNT, "");
    }

    static String bytes(double bytes) {
        return scaled(bytes, 1024, BYTES, " ");
    }

    private static String scaled(double value, int step, String[] units, String gap) {
        double scaled = value;
        int unit = 0;
        while (Math.abs(scaled) >= step && unit < units.length - 1) {
            scaled /= step;
            unit++;
        }
        boolean whole = Math.abs(scaled) >= 100 || (unit == 0 && scaled == Math.rint(scaled));
        String digits = whole ? "%.0f" : Math.abs(scaled) >= 10 ? "%.1f" : "%.2f";
        return (String.format(Locale.ROOT, digits, scaled) + gap + units[unit]).strip();
    }
}
