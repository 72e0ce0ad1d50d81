/**
 * Memory that several processes map: pools, arenas, scopes, refs, and the shared types that live in them.
 * Nothing here knows about calls; the RPC runtime builds on it. Start with {@link dev.rackcall.shm.Pool},
 * {@link dev.rackcall.shm.Arena}, {@link dev.rackcall.shm.Scope} and {@link dev.rackcall.shm.Ref}; for objects with {@link dev.rackcall.shm.Shared}.
 */
package dev.rackcall.shm;
