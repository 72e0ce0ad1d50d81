package dev.rackcall.shm;

/**
 * Thrown when a shared object is used after its connection or pool has ended, since its memory is then gone; the message
 * names the connection or pool. If the memory ends during the access, the JVM may throw an {@link IllegalStateException}
 * ("Already closed") instead.
 */
public final class EndedMemoryException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    public EndedMemoryException(String message) {
        super(message);
    }
}
