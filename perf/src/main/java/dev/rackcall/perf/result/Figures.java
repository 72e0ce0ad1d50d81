package dev.rackcall.perf.result;

import java.util.Arrays;
import java.util.Locale;

/** Figures for a reader: three digits and a unit. */
public final class Figures {
    private static final String[] TIME = {"ns", "us", "ms", "s"};
    private static final String[] COUNT = {"", " k", " M", " G"};
    private static final String[] BYTES = {"B", "KiB", "MiB", "GiB", "TiB"};

    private Figures() {}

    /** A figure in the unit that its JSON name ends with. */
    public static String of(String key, double number) {
        return switch (key.substring(key.lastIndexOf('_') + 1)) {
            case "ns" -> time(number);
            case "b", "bytes" -> bytes(number);
            case "s" -> rate(number);
            case "million" -> time(number * 1e9);
            case "flight" -> Integer.toString((int) number);
            case "mib" -> String.format(Locale.ROOT, "%.1f MiB", number);
            case "percent" -> String.format(Locale.ROOT, "%.2f %%", number);
            default -> String.format(Locale.ROOT, "%.2f x", number);
        };
    }

    /** A time in nanoseconds. */
    public static String time(double nanos) {
        return scaled(nanos, 1000, TIME, " ");
    }

    /** Operations a second. */
    public static String rate(double perSecond) {
        return scaled(perSecond, 1000, COUNT, "");
    }

    /** A number of bytes. */
    public static String bytes(double bytes) {
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

    /** The median; the mean of the two in the middle if their number is even; 0 if there are none. */
    public static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        if (sorted.length == 0) {
            return 0;
        }
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
