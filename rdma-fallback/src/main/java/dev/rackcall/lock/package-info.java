/**
 * ALock: one lock for threads that reach it by memory and threads that reach it by RDMA, although processor atomics and
 * device atomics are not atomic with each other. Start with {@link dev.rackcall.lock.LockTable}, which holds the locks,
 * and {@link dev.rackcall.lock.ALock}, a lock as one thread uses it. {@code CohortQueue} is the algorithm of live
 * threads, {@code CohortRepair} recovers after dead ones; docs/alock.md shows how to use it, docs/internals/alock.md
 * the protocol.
 */
package dev.rackcall.lock;
