package dev.rackcall.shm.codec;

/**
 * A value that cannot travel (null where null is not allowed, text that is no Unicode, a class that nobody registered), or bytes
 * that no honest peer writes. The message names the value and says what to do. The call that it belongs to fails; nothing else does.
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
