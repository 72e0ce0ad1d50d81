package dev.rackcall.samples.demo;

/** How large a scope to open for the next batch, going by the last one. Not thread-safe. */
final class ScopeEstimate {
    private static final double MARGIN = 1.1;
    private static final long FIRST_BYTES_PER_DOCUMENT = 2048;

    private double bytesPerDocument = FIRST_BYTES_PER_DOCUMENT;

    long bytes(int documents) {
        return (long) (bytesPerDocument * documents * MARGIN);
    }

    void learn(int documents, long bytes) {
        if (documents > 0) {
            bytesPerDocument = (double) bytes / documents;
        }
    }
}
