package dev.rackcall.cp;

import dev.rackcall.verbs.AddressHandle;

/**
 * A peer's DC target.
 *
 * @param handle the way to its device
 * @param number of the target
 * @param key that the target asks for
 */
record Target(AddressHandle handle, int number, long key) {}
