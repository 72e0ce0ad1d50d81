package dev.rackcall.shm.codec;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import net.openhft.chronicle.bytes.PointerBytesStore;

/**
 * Strict UTF-8: unlike {@code String.getBytes} and {@code new String(byte[])} it refuses what it cannot express instead of
 * replacing it.
 */
final class Utf8 {
    private static final char REPLACEMENT = '\uFFFD';

    private Utf8() {}

    /** Writes characters up to the first that is not ASCII; returns how many. There must be room for all of {@code value}. */
    static int writeAscii(String value, PointerBytesStore memory, long at) {
        int chars = value.length();
        for (int i = 0; i < chars; i++) {
            char c = value.charAt(i);
            if (c >= 0x80) {
                return i;
            }
            memory.writeByte(at + i, (byte) c);
        }
        return chars;
    }

    /**
     * Bytes that {@code value} takes, of which the first {@code ascii} characters are known to take one each.
     *
     * @throws PayloadException if a surrogate lacks its other half, or if the text takes more than 2 GiB
     */
    static int length(String value, int ascii, String name) {
        long bytes = ascii;
        int chars = value.length();
        for (int i = ascii; i < chars; i++) {
            char c = value.charAt(i);
            if (c < 0x80) {
                bytes++;
            } else if (c < 0x800) {
                bytes += 2;
            } else if (!Character.isSurrogate(c)) {
                bytes += 3;
            } else if (isPair(value, i)) {
                bytes += 4;
                i++;
            } else {
                throw new PayloadException("'" + name + "' holds half a surrogate pair (0x" + Integer.toHexString(c)
                        + ") at index " + i + ", which UTF-8 cannot express; send a byte[] if it is no text");
            }
        }
        if (bytes > Integer.MAX_VALUE) {
            throw new PayloadException(
                    "'" + name + "' takes " + bytes + " bytes of UTF-8; a String may take 2147483647");
        }
        return (int) bytes;
    }

    private static boolean isPair(String value, int i) {
        return Character.isHighSurrogate(value.charAt(i))
                && i + 1 < value.length()
                && Character.isLowSurrogate(value.charAt(i + 1));
    }

    /** Writes the characters from {@code from} on; {@link #length} has approved of them. */
    static void write(String value, int from, PointerBytesStore memory, long at) {
        int chars = value.length();
        for (int i = from; i < chars; i++) {
            int c = value.charAt(i);
            if (c < 0x80) {
                memory.writeByte(at++, (byte) c);
            } else if (c < 0x800) {
                memory.writeByte(at++, (byte) (0xC0 | (c >> 6)));
                memory.writeByte(at++, continuation(c));
            } else if (!Character.isSurrogate((char) c)) {
                memory.writeByte(at++, (byte) (0xE0 | (c >> 12)));
                memory.writeByte(at++, continuation(c >> 6));
                memory.writeByte(at++, continuation(c));
            } else {
                c = Character.toCodePoint((char) c, value.charAt(++i));
                memory.writeByte(at++, (byte) (0xF0 | (c >> 18)));
                memory.writeByte(at++, continuation(c >> 12));
                memory.writeByte(at++, continuation(c >> 6));
                memory.writeByte(at++, continuation(c));
            }
        }
    }

    private static byte continuation(int bits) {
        return (byte) (0x80 | (bits & 0x3F));
    }

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
