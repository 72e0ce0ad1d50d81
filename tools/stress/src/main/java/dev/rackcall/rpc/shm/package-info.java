/**
 * Races of a connection's slots and wake-ups. They are in the package of the code under test, so that they can
 * reach it; nothing else depends on them.
 */
package dev.rackcall.rpc.shm;
