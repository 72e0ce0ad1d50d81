package dev.rackcall.verbs;

/** A verb failed. The message names the verb, its values, the errno and the next step. */
public final class VerbsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    /** @param what the failed action with its values; {@code advice} is the next step */
    public VerbsException(String what, int errno, String advice) {
        super(what + ": " + VerbsErrno.name(errno) + "; " + advice);
        this.errno = errno;
    }

    /** The same with a cause. */
    public VerbsException(String what, int errno, String advice, Throwable cause) {
        super(what + ": " + VerbsErrno.name(errno) + "; " + advice, cause);
        this.errno = errno;
    }

    /** The errno value, see {@link VerbsErrno}. */
    public int errno() {
        return errno;
    }
}
