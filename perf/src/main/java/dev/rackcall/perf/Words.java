package dev.rackcall.perf;

import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** What users write on the command line, as values. */
final class Words {
    private static final Pattern TIME = Pattern.compile("([0-9]+(?:\\.[0-9]+)?|\\.[0-9]+)(ms|s|)");
    private static final double LEAST_NANOS = 1e6;
    private static final double MOST_NANOS = 3600e9;

    private Words() {}

    /** One of the constants, whatever the case in which it was written. */
    static <E extends Enum<E>> E constant(E[] constants, String text) {
        for (E constant : constants) {
            if (constant.name().equalsIgnoreCase(text)) {
                return constant;
            }
        }
        throw new TypeConversionException("'" + text + "' is none of "
                + Arrays.stream(constants)
                        .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining(", ")));
    }

    /**
     * {@code 2s}, {@code 0.5s}, {@code 500ms}, in nanoseconds. A number alone is refused: it could mean seconds or
     * milliseconds.
     */
    static final class Time implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            Matcher time = TIME.matcher(text.toLowerCase(Locale.ROOT));
            if (!time.matches()) {
                throw wrong(text);
            }
            if (time.group(2).isEmpty()) {
                throw new TypeConversionException("'" + text + "' has no unit; write " + text + "s or " + text + "ms");
            }
            double nanos = Double.parseDouble(time.group(1)) * (time.group(2).equals("ms") ? 1e6 : 1e9);
            if (nanos < LEAST_NANOS || nanos > MOST_NANOS) {
                throw wrong(text);
            }
            return (long) nanos;
        }

        private static TypeConversionException wrong(String text) {
            return new TypeConversionException(
                    "'" + text + "' is no time from 1ms to 3600s; write for example 2s or 500ms");
        }
    }
}
