package dev.rackcall.shm.codec;

/**
 * A value that cannot be sent (null where null is not allowed, invalid Unicode, an unregistered class), or bytes that
 * no correct peer writes. The message names the value and says what to do. Only the call that it belongs to fails.
 */
public final class PayloadException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public PayloadException(String message) {
        super(message);
    }

    public PayloadException(String message, Throwable cause) {
        super(message, cause);
    }
}
