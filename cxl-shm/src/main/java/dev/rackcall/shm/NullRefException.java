package dev.rackcall.shm;

/** A null Ref was followed: the object's author set no reference there. This is a mistake and not an attack. */
public final class NullRefException extends RefException {
    private static final long serialVersionUID = 1L;

    public NullRefException(String message) {
        super(message);
    }

    /** Throws this exception if {@code ref} is null. */
    public static void throwIfNull(long ref) {
        if (ref == Ref.NULL) {
            throw new NullRefException(Ref.describe(ref)
                    + " is null: no object was set there; check isNull(), or what move returns, first");
        }
    }
}
