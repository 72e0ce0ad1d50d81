package dev.rackcall.shm;

/** A Ref that must not be followed: it points to unmapped or freed memory, or to an object of another type. */
public class RefException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public RefException(String message) {
        super(message);
    }
}
