package dev.rackcall.cp.control;

import dev.rackcall.verbs.AddressHandle;

/**
 * A peer's DC target.
 *
 * @param handle the address of the peer's device
 * @param number of the target
 * @param key that requests must present
 */
public record DcTarget(AddressHandle handle, int number, long key) {
    /** The DC key for a random number. The lower half of its 64 bits is enough to distinguish lives. */
    public static long key(int drawn) {
        return drawn & 0xFFFFFFFFL;
    }
}
