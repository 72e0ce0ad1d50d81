package dev.rackcall.sandbox;

import dev.rackcall.shm.RefException;

/**
 * A Ref in a call's arguments leads neither into the scope that was passed nor into an arena that the service declared,
 * or the call followed more Refs than the service allows. Nothing was read through that Ref. The caller gets
 * PERMISSION_DENIED.
 */
public final class SandboxException extends RefException {
    private static final long serialVersionUID = 1L;

    public SandboxException(String message) {
        super(message);
    }
}
