package dev.rackcall.verbs;

import java.nio.ByteOrder;

/** Immediate data lies in structs in network order (__be32), so that hosts of either kind see the same number. */
final class NetworkOrder {
    private NetworkOrder() {}

    /** Its own inverse. */
    static int toInt(int value) {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? value : Integer.reverseBytes(value);
    }
}
