/** Races of arenas, in the package of what they test; nothing else depends on them. */
package dev.rackcall.shm;
