package dev.rackcall.cp.control;

import dev.rackcall.verbs.AddressHandle;

/**
 * A peer's DC target.
 *
 * @param handle the way to its device
 * @param number of the target
 * @param key that the target asks for
 */
public record DcTarget(AddressHandle handle, int number, long key) {
    /** DC keys have 64 bits; the lower half is enough to be told from another life. */
    public static long key(int drawn) {
        return drawn & 0xFFFFFFFFL;
    }
}
