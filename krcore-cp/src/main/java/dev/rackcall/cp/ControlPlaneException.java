package dev.rackcall.cp;

/** The control plane could not do what was asked. The message says what, with which values, and what to do next. */
public final class ControlPlaneException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What kind of failure it is. */
    public enum Kind {
        /** No meta server and no handshake knows the host. */
        UNKNOWN_HOST,
        /** Nobody answers. */
        UNREACHABLE,
        /** A table has no place left. */
        TABLE_FULL,
        /** A tenant has used up what it was given. */
        QUOTA_EXCEEDED,
        /** The other end speaks another version, or refuses. */
        REFUSED,
        /** The device lacks something that is needed. */
        UNSUPPORTED,
        /** The virtual queue has failed before, or is closed. */
        QUEUE_FAILED
    }

    private final Kind kind;

    /** Also for an address supplier that knows no meta server now: {@link Kind#UNREACHABLE} has an agent go on without and ask again. */
    public ControlPlaneException(Kind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** What kind of failure it is. */
    public Kind kind() {
        return kind;
    }
}
