package dev.rackcall.shm.pool;

/**
 * A pool cannot be created, joined or used. The message names the pool, the reason with its values, and what to do
 * next.
 */
public final class PoolException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PoolException(String message) {
        super(message);
    }

    PoolException(String message, Throwable cause) {
        super(message, cause);
    }
}
