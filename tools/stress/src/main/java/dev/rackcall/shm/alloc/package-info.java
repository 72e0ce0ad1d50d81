/** Races of page tables and allocators, in the package of the code under test; nothing else depends on them. */
package dev.rackcall.shm.alloc;
