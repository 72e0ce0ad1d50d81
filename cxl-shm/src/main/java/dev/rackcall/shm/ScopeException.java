package dev.rackcall.shm;

/** A scope was used in a way that it does not allow: after its end, or by a thread that does not own it. */
public class ScopeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ScopeException(String message) {
        super(message);
    }

    ScopeException(String message, Throwable cause) {
        super(message, cause);
    }
}
