package dev.rackcall.directory;

/** What a directory could not do. The message names what was asked for, the values, and what to do next. */
public final class DirectoryException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** What kind of failure. */
    public enum Reason {
        /** A name, an address or a value is malformed. */
        INVALID,
        /** The store cannot be reached, or did not answer in time. It may have done what it was asked for. */
        UNAVAILABLE,
        /** The lease that it belonged to has ended. */
        LEASE_LOST,
        /** Somebody else has announced the same in another way. */
        CONFLICT,
        /** More memory than a member may have. */
        QUOTA_EXCEEDED,
        /** Not so many arena ids are free. */
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

    /** A failure with what caused it. */
    public DirectoryException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
