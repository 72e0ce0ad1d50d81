package dev.rackcall.verbs;

/** A verb failed. The message says what, with which values and errno, and what to do next. */
public final class VerbsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    /** @param what what failed, with its values; {@code advice} says what to do next */
    public VerbsException(String what, int errno, String advice) {
        super(what + ": " + VerbsErrno.name(errno) + "; " + advice);
        this.errno = errno;
    }

    /** As above, with the reason that another layer gave. */
    public VerbsException(String what, int errno, String advice, Throwable cause) {
        super(what + ": " + VerbsErrno.name(errno) + "; " + advice, cause);
        this.errno = errno;
    }

    /** The errno value, see {@link VerbsErrno}. */
    public int errno() {
        return errno;
    }
}
