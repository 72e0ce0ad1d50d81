package dev.rackcall.processor;

import java.nio.charset.StandardCharsets;

/**
 * FNV-1a over UTF-8: the hash of every layout and service description. The run time computes the same for its
 * containers.
 */
final class Fingerprint {
    private static final long OFFSET_BASIS = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;

    private Fingerprint() {}

    static long of(String description) {
        long hash = OFFSET_BASIS;
        for (byte b : description.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (b & 0xff)) * PRIME;
        }
        return hash;
    }

    /** 32 bits of the same hash, never 0, so that unwritten memory does not look like an object. */
    static int typeId(String layout) {
        long hash = of(layout);
        int folded = (int) (hash ^ (hash >>> 32));
        return folded == 0 ? 1 : folded;
    }
}
