package dev.rackcall.sandbox;

/**
 * Limits the bytes of one peer's snapshots. Without it, thousands of calls in flight could each copy the peer's
 * whole arena. Thread-safe.
 */
public interface SnapshotBudget {
    /** No limit. */
    SnapshotBudget UNLIMITED = new SnapshotBudget() {
        @Override
        public boolean take(long bytes) {
            return true;
        }

        @Override
        public void give(long bytes) {}
    };

    /** Counts a snapshot before it is taken. Returns false and counts nothing if the limit would be exceeded. */
    boolean take(long bytes);

    /** Removes a snapshot that is no longer used from the count. */
    void give(long bytes);
}
