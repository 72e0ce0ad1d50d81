package dev.rackcall.shm.alloc;

/** What {@code SteppedClasses} calls before each access to shared memory. */
public final class Steps {
    /** Of the test that runs; set and read by one thread at a time. */
    private static Runnable step = () -> {};

    private Steps() {}

    public static void during(Runnable steps) {
        step = steps;
    }

    public static void before() {
        step.run();
    }
}
