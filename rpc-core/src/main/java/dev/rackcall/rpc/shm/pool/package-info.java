/**
 * Connections between hosts that share a pool and no kernel: no sockets, no descriptors, no locks that prove life.
 * {@code PoolServer} and {@code PoolClient} meet at a {@code PoolDoor} in the pool and exchange a {@code PoolHandshake}.
 * {@code PoolBell} replaces the socket by words in the pool, which {@code PoolWatcher} reads.
 */
package dev.rackcall.rpc.shm.pool;
