package dev.rackcall.shm;

/**
 * A scope was to be changed, reset or sealed while a call has it sealed. Nothing was changed. The message names the
 * scope and the call. When that call has ended, the scope can be used again.
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
