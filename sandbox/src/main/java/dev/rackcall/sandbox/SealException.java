package dev.rackcall.sandbox;

/** A seal was refused, is not in force, or cannot be released now. The message says why and what to do. */
public final class SealException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public SealException(String message) {
        super(message);
    }

    public SealException(String message, Throwable cause) {
        super(message, cause);
    }
}
