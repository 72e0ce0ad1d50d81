package dev.rackcall.shm.alloc;

/** Ends a simulated process: none of its code runs after this. */
public final class Killed extends Error {
    private static final long serialVersionUID = 1L;

    public Killed() {
        super("killed", null, false, false);
    }
}
