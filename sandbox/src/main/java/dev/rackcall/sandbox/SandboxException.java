package dev.rackcall.sandbox;

import dev.rackcall.shm.RefException;

/**
 * A Ref in a call's arguments leads where that call has no business: out of the scope that was passed and the arenas that the service
 * declared, or round and round past the declared bound. Nothing was read there. The caller of such a call gets PERMISSION_DENIED.
 */
public final class SandboxException extends RefException {
    private static final long serialVersionUID = 1L;

    public SandboxException(String message) {
        super(message);
    }
}
