package dev.rackcall.shm.codec;

import java.nio.ByteOrder;

/** Payloads are little-endian, and so is every machine that this runs on; memory is therefore read as it lies. */
final class LittleEndian {
    private LittleEndian() {}

    static void require() {
        if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            throw new UnsupportedOperationException(
                    "payloads are little-endian and this machine (" + System.getProperty("os.arch") + ") is not");
        }
    }
}
