package dev.rackcall.directory;

/** A failed operation of a directory. The message names the operation, its values, and the next step. */
public final class DirectoryException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** What kind of failure. */
    public enum Reason {
        /** A name, an address or a value is malformed. */
        INVALID,
        /** The store cannot be reached, or did not answer in time. The operation may have taken effect. */
        UNAVAILABLE,
        /** The member's lease has ended. */
        LEASE_LOST,
        /** Another member has announced the same id, or the same channel with another interface. */
        CONFLICT,
        /** More memory than a member may have. */
        QUOTA_EXCEEDED,
        /** Fewer arena ids are free than were requested. */
        EXHAUSTED,
        /** The directory has been closed. */
        CLOSED
    }

    private final Reason reason;

    /** A failure without a cause. */
    public DirectoryException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** A failure with a cause. */
    public DirectoryException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
