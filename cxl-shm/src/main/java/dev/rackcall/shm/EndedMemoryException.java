package dev.rackcall.shm;

/**
 * A shared object was used after its connection or pool, which the message names, had ended, and its memory with it. If
 * a thread uses an object just while its memory ends, the JVM's own {@link IllegalStateException} ("Already closed")
 * may come instead.
 */
public final class EndedMemoryException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public EndedMemoryException(String message) {
        super(message);
    }
}
