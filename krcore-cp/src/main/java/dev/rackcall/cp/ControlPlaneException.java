package dev.rackcall.cp;

/** A failed operation of the control plane. The message names the cause with its values, and the next step. */
public final class ControlPlaneException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What kind of failure it is. */
    public enum Kind {
        /** No record of the host was found, and no control address of it was given. */
        UNKNOWN_HOST,
        /** The other process does not reply. */
        UNREACHABLE,
        /** A table is full. */
        TABLE_FULL,
        /** A tenant has reached its quota. */
        QUOTA_EXCEEDED,
        /** The other end refuses, for example because it has another version of the protocol. */
        REFUSED,
        /** The device or the agent cannot do this. */
        UNSUPPORTED,
        /** The virtual queue has failed or is closed. */
        QUEUE_FAILED
    }

    private final Kind kind;

    /**
     * The supplier of a meta server's address may throw it, too: after {@link Kind#UNREACHABLE} the agent works without
     * a meta server and calls the supplier again later.
     */
    public ControlPlaneException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** What kind of failure it is. */
    public Kind kind() {
        return kind;
    }
}
