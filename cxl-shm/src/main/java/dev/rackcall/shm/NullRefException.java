package dev.rackcall.shm;

/** A null Ref was followed: whoever wrote the object has set no reference there. A mistake, and no attempt to lead anybody astray. */
public final class NullRefException extends RefException {
    private static final long serialVersionUID = 1L;

    public NullRefException(String message) {
        super(message);
    }

    /** Throws it if {@code ref} is null. */
    public static void throwIfNull(long ref) {
        if (ref == Ref.NULL) {
            throw new NullRefException(Ref.describe(ref)
                    + " is null: no object was set there; ask isNull(), or whether a move finds one, first");
        }
    }
}
