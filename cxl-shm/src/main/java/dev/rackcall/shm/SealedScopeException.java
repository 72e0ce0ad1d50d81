package dev.rackcall.shm;

/**
 * A change, reset or further seal of a scope was refused, because a call has the scope sealed. Nothing was changed. The
 * message names the scope and the call. When that call has ended, the scope can be used again.
 */
public final class SealedScopeException extends ScopeException {
    private static final long serialVersionUID = 1L;

    public SealedScopeException(String message) {
        super(message);
    }

    public SealedScopeException(String message, Throwable cause) {
        super(message, cause);
    }
}
