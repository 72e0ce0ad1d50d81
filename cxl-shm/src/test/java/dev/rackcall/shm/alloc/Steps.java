package dev.rackcall.shm.alloc;

/** {@code SteppedClasses} inserts calls of this class before each access to shared memory. */
public final class Steps {
    /** Set by the running test; used by one thread at a time. */
    private static Runnable step = () -> {};

    private Steps() {}

    public static void during(Runnable steps) {
        step = steps;
    }

    public static void before() {
        step.run();
    }
}
