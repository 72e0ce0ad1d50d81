package dev.rackcall.shm;

/** The end of a simulated process: nothing of it runs after this. */
final class Killed extends Error {
    private static final long serialVersionUID = 1L;

    Killed() {
        super("killed", null, false, false);
    }
}
