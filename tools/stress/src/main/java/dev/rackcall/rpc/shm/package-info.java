/**
 * Races of a connection's slots and wake-ups. They live in the package of what they are about, to reach it; nothing
 * else depends on them.
 */
package dev.rackcall.rpc.shm;
