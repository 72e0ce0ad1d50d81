package dev.rackcall.lock;

/**
 * A lock that is reached by RDMA cannot be reached any more. The session that it was thrown by is lost: what it held may be given to others as soon as
 * its owner is recovered where the lock table lies, so what the lock guards must not be touched from then on (see {@link ALock#token}).
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
