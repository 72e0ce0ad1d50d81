package dev.rackcall.shm;

/** A Ref that must not be followed: it leads nowhere, into freed memory, or to something else than what it was taken for. */
public class RefException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public RefException(String message) {
        super(message);
    }
}
