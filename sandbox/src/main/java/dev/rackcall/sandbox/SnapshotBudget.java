package dev.rackcall.sandbox;

/**
 * How many bytes of snapshots one peer may have taken at once: without it, a client with thousands of calls under way could have each of them copy
 * its whole arena. Thread-safe.
 */
public interface SnapshotBudget {
    /** As many as one likes. */
    SnapshotBudget UNLIMITED = new SnapshotBudget() {
        @Override
        public boolean take(long bytes) {
            return true;
        }

        @Override
        public void give(long bytes) {}
    };

    /** Counts a snapshot that is about to be taken; false, and not counted, if that is too much. */
    boolean take(long bytes);

    /** The snapshot is no longer used. */
    void give(long bytes);
}
