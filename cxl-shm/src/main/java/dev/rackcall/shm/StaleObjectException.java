package dev.rackcall.shm;

/**
 * A reference was read through a flyweight whose own object was freed, so the value read is meaningless. The mistake is
 * in the code that kept the flyweight, not in the code that wrote the object.
 */
public final class StaleObjectException extends RefException {
    private static final long serialVersionUID = 1L;

    public StaleObjectException(String message) {
        super(message);
    }
}
