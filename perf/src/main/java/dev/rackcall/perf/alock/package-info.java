/**
 * The target {@code alock}: the lock-table benchmark of ALock's paper. {@link dev.rackcall.perf.alock.LockTarget}
 * measures on nodes in one process, {@link dev.rackcall.perf.alock.LockHosts} with one node on each of two hosts;
 * {@code LockContest} is one point of the benchmark, {@code LockUser} one thread with one kind of lock.
 */
package dev.rackcall.perf.alock;
