package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.JsonDocument;
import java.io.IOException;
import java.util.List;

/** A client of the store over one transport. Used by one thread. */
interface StoreClient extends AutoCloseable {
    /** Hands documents over; returns when the store has them. */
    void put(List<JsonDocument> batch) throws IOException;

    /** Searches, and reads every returned document completely. */
    Outcome search(Query query) throws IOException;

    /** The traffic since the last call of this method. */
    Traffic traffic();

    @Override
    void close() throws IOException;

    /**
     * The result of a search.
     *
     * @param total how many documents match
     * @param read how many of them were returned and read
     * @param digest of those, in order
     */
    record Outcome(long total, int read, long digest) {}

    /**
     * Bytes between the processes.
     *
     * @param copiedBytes arguments and results that one side wrote and the other read
     * @param pointedBytes documents that were handed over by a Ref
     */
    record Traffic(long copiedBytes, long pointedBytes) {
        static final Traffic NONE = new Traffic(0, 0);

        Traffic plus(Traffic other) {
            return new Traffic(copiedBytes + other.copiedBytes, pointedBytes + other.pointedBytes);
        }
    }
}
