package dev.rackcall.shm.codec;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Strict UTF-8: unlike {@code new String(byte[])} it refuses what it cannot read instead of replacing it. */
final class Utf8 {
    private static final char REPLACEMENT = '\uFFFD';

    private Utf8() {}

    /**
     * The text of the first {@code length} bytes, which must not change meanwhile: private memory, never a peer's.
     *
     * @throws PayloadException if they are not well-formed UTF-8
     */
    static String decode(byte[] bytes, int length) {
        String text = new String(bytes, 0, length, StandardCharsets.UTF_8);
        // The decoder puts U+FFFD in place of what it cannot read. Only if there is one is it worth asking whether it
        // was sent as such:
        // then, and only then, encoding gives the same bytes again. The search costs nothing for Latin-1 text.
        if (text.indexOf(REPLACEMENT) >= 0) {
            byte[] again = text.getBytes(StandardCharsets.UTF_8);
            if (!Arrays.equals(again, 0, again.length, bytes, 0, length)) {
                throw new PayloadException("a String of " + length + " bytes is not well-formed UTF-8");
            }
        }
        return text;
    }
}
