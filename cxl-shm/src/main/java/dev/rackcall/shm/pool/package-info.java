/**
 * Pools: named or anonymous memory with one arena over all of it, which processes of one or several hosts join.
 * A process's life is proven by a lock that its kernel holds; what dead participants owned is freed.
 * Start with {@link dev.rackcall.shm.pool.Pool}; {@code PoolLayout} draws the first page.
 */
package dev.rackcall.shm.pool;
