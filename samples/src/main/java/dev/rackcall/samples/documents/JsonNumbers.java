package dev.rackcall.samples.documents;

import java.math.BigDecimal;

/** The {@link Kind} of a JSON number, decided by its value alone, so that every conversion gives the same kind. */
final class JsonNumbers {
    private static final int DIGITS_KEPT = 15;

    private JsonNumbers() {}

    /** Whether a text of that length has so few digits that the double keeps them all (15, DBL_DIG of C). */
    static boolean isShort(int textLength, double value) {
        return textLength <= DIGITS_KEPT && Math.abs(value) >= Double.MIN_NORMAL && Double.isFinite(value);
    }

    /** Whether printing the double gives the number back. */
    static boolean isDouble(BigDecimal number) {
        double value = number.doubleValue();
        return Double.isFinite(value) && new BigDecimal(Double.toString(value)).compareTo(number) == 0;
    }

    /** The one text for that number. */
    static String text(BigDecimal number) {
        return number.stripTrailingZeros().toString();
    }

    /** A long in the order of the doubles; -0.0 and 0.0 are equal. */
    static long sortable(double value) {
        long bits = Double.doubleToLongBits(value + 0.0);
        return bits ^ ((bits >> (Long.SIZE - 1)) & Long.MAX_VALUE);
    }
}
