/**
 * ALock: one lock for threads that reach it by memory and threads that reach it by RDMA, though the atomics of the two are not atomic with each other.
 * {@code docs/alock.md} has the protocol. Start with {@link dev.rackcall.rdma.lock.LockTable}; {@code CohortQueue} is the algorithm of those who live,
 * {@code CohortRepair} that for those who died.
 */
package dev.rackcall.rdma.lock;
