package dev.rackcall.verbs;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/**
 * A port's global address: 128 bits in the form of an IPv6 address (union ibv_gid).
 *
 * @param high the first eight bytes, big-endian
 * @param low the last eight bytes, big-endian
 */
public record Gid(long high, long low) {
    /** Bytes of a GID. */
    public static final int BYTES = 16;

    /** The GID that consists of zeros: an unused entry of a port's table. */
    public static final Gid NONE = new Gid(0, 0);

    /** From 16 bytes in network order. */
    public static Gid of(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a GID has 16 bytes, not " + bytes.length);
        }
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new Gid(buffer.getLong(), buffer.getLong());
    }

    /** The reverse of {@link #toString()}. */
    public static Gid parse(String text) {
        String digits = text.replace(":", "");
        if (digits.length() != 2 * BYTES || text.split(":", -1).length != 8) {
            throw new IllegalArgumentException(
                    "not a GID: '" + text + "'; write eight groups of four hexadecimal digits with colons");
        }
        return of(HexFormat.of().parseHex(digits));
    }

    /** The 16 bytes in network order. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES).putLong(high).putLong(low).array();
    }

    /** Whether this is an IPv4 address in IPv6 form, as RoCE v2 uses it. */
    public boolean isIpv4() {
        return high == 0 && low >>> 32 == 0xFFFF;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(39);
        String digits = HexFormat.of().formatHex(toBytes());
        for (int i = 0; i < digits.length(); i += 4) {
            text.append(i == 0 ? "" : ":").append(digits, i, i + 4);
        }
        return text.toString();
    }
}
