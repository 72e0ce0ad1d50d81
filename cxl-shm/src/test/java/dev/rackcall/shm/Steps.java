package dev.rackcall.shm;

/** What {@link SteppedClasses} calls before each access to shared memory. */
final class Steps {
    /** Of the test that runs; set and read by one thread at a time. */
    static Runnable step = () -> {};

    private Steps() {}

    static void before() {
        step.run();
    }
}
