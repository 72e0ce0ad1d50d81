/** Races of arenas, page tables and allocators. They live in the package of what they are about, to reach it; nothing else depends on them. */
package dev.rackcall.shm;
