/**
 * ALock: one lock for threads that reach it by memory and threads that reach it by RDMA, though processor atomics and device atomics are not atomic with each other.
 * Start with {@link dev.rackcall.lock.LockTable}, which holds the locks, and {@link dev.rackcall.lock.ALock}, a lock as one thread uses it. {@code CohortQueue} has the algorithm of live threads,
 * {@code CohortRepair} recovery after dead ones; docs/alock.md explains the protocol.
 */
package dev.rackcall.lock;
