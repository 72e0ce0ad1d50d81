package dev.rackcall.verbs;

import java.nio.ByteOrder;

/** Structs hold immediate data in network order (__be32), so all hosts see the same number. */
final class NetworkOrder {
    private NetworkOrder() {}

    /** Converts in both directions. */
    static int toInt(int value) {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? value : Integer.reverseBytes(value);
    }
}
