package dev.rackcall.lock;

/**
 * A lock's table cannot be reached by RDMA any more, and the session is lost. Once its owner is recovered at the
 * table's host, other threads may hold its locks. So the guarded data must not be accessed any more (see {@link
 * ALock#token}).
 */
public final class LockConnectionException extends RuntimeException {
    private static final long serialVersionUID = 1;

    LockConnectionException(String message) {
        super(message);
    }

    LockConnectionException(String message, Throwable cause) {
        super(message, cause);
    }
}
