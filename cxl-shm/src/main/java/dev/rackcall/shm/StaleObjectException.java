package dev.rackcall.shm;

/**
 * A reference was read through a flyweight whose own object was freed, so whatever was read there means nothing. This is a
 * mistake of the code that kept the flyweight, and not of the object's author.
 */
public final class StaleObjectException extends RefException {
    private static final long serialVersionUID = 1L;

    public StaleObjectException(String message) {
        super(message);
    }
}
