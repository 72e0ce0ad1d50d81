package dev.rackcall.cp;

/** The control plane could not do what was asked. The message names the thing and its values, and the next step. */
public final class ControlPlaneException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What kind of failure it is. */
    public enum Kind {
        /** Neither the meta server nor a handshake knows the host. */
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
     * Address suppliers may throw it too: with {@link Kind#UNREACHABLE} the agent works without a meta server and asks
     * again.
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
