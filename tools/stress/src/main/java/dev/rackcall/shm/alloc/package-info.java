/** Races of page tables and allocators, in the package of what they test; nothing else depends on them. */
package dev.rackcall.shm.alloc;
