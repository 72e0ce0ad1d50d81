package dev.rackcall.cli.top;

/**
 * Text that other processes choose, made safe to show: a terminal must not obey it, and it must not disguise itself.
 * Control characters are not printable, nor are invisible characters and those that turn the direction of text.
 */
public final class PrintableText {
    private PrintableText() {}

    /** Whether all characters are printable. */
    public static boolean isPrintable(String text) {
        return text.codePoints().allMatch(PrintableText::isPrintable);
    }

    /**
     * The first characters of a text, with a replacement for each that is not printable.
     *
     * @param most code points
     */
    public static String of(String text, int most, char replacement) {
        return text.codePoints()
                .limit(most)
                .map(each -> isPrintable(each) ? each : replacement)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    private static boolean isPrintable(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE -> false;
            default -> true;
        };
    }
}
