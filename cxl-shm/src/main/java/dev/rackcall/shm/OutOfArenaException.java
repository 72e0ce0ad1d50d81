package dev.rackcall.shm;

/**
 * An arena cannot allocate the requested memory. It is full, or the host has no memory for it to grow. Nothing was
 * allocated.
 */
public final class OutOfArenaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public OutOfArenaException(String message) {
        super(message);
    }

    public OutOfArenaException(String message, Throwable cause) {
        super(message, cause);
    }
}
