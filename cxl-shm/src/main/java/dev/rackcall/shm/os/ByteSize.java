package dev.rackcall.shm.os;

import java.util.Locale;

/** Formats a number of bytes for people. */
public final class ByteSize {
    private static final String[] UNITS = {"KiB", "MiB", "GiB", "TiB", "PiB"};

    private ByteSize() {}

    /** For example {@code 48 KiB}, {@code 1.5 MiB} or {@code 100 bytes}. */
    public static String describe(long bytes) {
        if (Math.abs(bytes) < 1024) {
            return bytes + " bytes";
        }
        double value = bytes;
        int unit = -1;
        while (Math.abs(value) >= 1024 && unit < UNITS.length - 1) {
            value /= 1024;
            unit++;
        }
        String number =
                value == Math.rint(value) ? Long.toString((long) value) : String.format(Locale.ROOT, "%.1f", value);
        return number + " " + UNITS[unit];
    }
}
