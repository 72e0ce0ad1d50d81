/**
 * Pools: named or anonymous memory with one arena over all of it, which processes of one or several hosts join. A lock
 * that the kernel holds proves that a process is alive; what dead participants had is freed. Start with {@link
 * dev.rackcall.shm.pool.Pool}; {@code PoolLayout} draws the first page.
 */
package dev.rackcall.shm.pool;
