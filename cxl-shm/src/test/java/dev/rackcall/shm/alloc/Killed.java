package dev.rackcall.shm.alloc;

/** The end of a simulated process: nothing of it runs after this. */
public final class Killed extends Error {
    private static final long serialVersionUID = 1L;

    public Killed() {
        super("killed", null, false, false);
    }
}
