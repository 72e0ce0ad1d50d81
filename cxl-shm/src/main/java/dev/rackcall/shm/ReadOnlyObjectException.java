package dev.rackcall.shm;

/**
 * A store to a shared object that may only be read, such as the argument of a call whose method does not declare that
 * it writes. The object is unchanged.
 */
public final class ReadOnlyObjectException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public ReadOnlyObjectException(String message) {
        super(message);
    }
}
