package dev.rackcall.directory.zookeeper;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/** The content of a node: the tag of the attempt that wrote it, in a line of its own, and the value. */
final class TaggedValue {
    private static final int MAX_TAG = 64;

    private TaggedValue() {}

    static byte[] of(String tag, byte[] value) {
        byte[] line = (tag + "\n").getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocate(line.length + value.length)
                .put(line)
                .put(value)
                .array();
    }

    /** The value without its tag; empty if there is no tag. */
    static Optional<byte[]> value(byte[] tagged) {
        int end = tagEnd(tagged);
        return end < 0 ? Optional.empty() : Optional.of(Arrays.copyOfRange(tagged, end + 1, tagged.length));
    }

    static boolean haveSameTag(byte[] one, byte[] other) {
        int end = tagEnd(one);
        return end >= 0 && end == tagEnd(other) && Arrays.equals(one, 0, end, other, 0, end);
    }

    private static int tagEnd(byte[] tagged) {
        if (tagged != null) {
            for (int i = 0; i < tagged.length && i <= MAX_TAG; i++) {
                if (tagged[i] == '\n') {
                    return i;
                }
            }
        }
        return -1;
    }
}
