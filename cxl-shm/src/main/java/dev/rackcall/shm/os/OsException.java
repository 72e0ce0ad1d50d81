package dev.rackcall.shm.os;

/**
 * The operating system refused an operation. The message gives the operation with its values, errno by name and number,
 * and what to do.
 */
public final class OsException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    public OsException(String what, int errno) {
        super(what + ": " + Errno.name(errno) + " (" + errno + ")");
        this.errno = errno;
    }

    /** {@code advice} says what to do about it. */
    public OsException(String what, int errno, String advice) {
        super(what + ": " + Errno.name(errno) + " (" + errno + "); " + advice);
        this.errno = errno;
    }

    /** The C library's errno, as in errno(3). */
    public int errno() {
        return errno;
    }
}
