package dev.rackcall.shm.types;

/**
 * Shared memory holds a value that no correct peer writes: a length beyond its array, an invalid ordinal, a graph
 * larger than allowed. The message names the object, the value and the limit. Nothing outside the arena was read.
 */
public final class SharedDataException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public SharedDataException(String message) {
        super(message);
    }
}
