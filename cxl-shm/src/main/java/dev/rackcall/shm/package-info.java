/**
 * Arenas, scopes and Refs: memory that several processes map, allocate in, and point into. An {@link
 * dev.rackcall.shm.Arena} hands out runs of pages, a {@link dev.rackcall.shm.Scope} allocates objects in its runs, and
 * a {@link dev.rackcall.shm.Ref} means the same object in every process. Start with {@code Scope}; {@link
 * dev.rackcall.shm.RefSpace} decides which Refs may be followed.
 */
package dev.rackcall.shm;
