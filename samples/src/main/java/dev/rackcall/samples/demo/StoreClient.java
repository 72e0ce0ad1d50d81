package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.JsonDocument;
import java.io.IOException;
import java.util.List;

/** A client's side of a way to the store. Belongs to one thread. */
interface StoreClient extends AutoCloseable {
    /** Hands documents over; returns when the store has them. */
    void put(List<JsonDocument> batch) throws IOException;

    /** Searches, and reads all of every document that comes back. */
    Outcome search(Query query) throws IOException;

    /** What crossed since the last time that this was called. */
    Traffic traffic();

    @Override
    void close() throws IOException;

    /**
     * What a search came to.
     *
     * @param total how many documents match
     * @param read how many of them came back and were read
     * @param digest of those, in order
     */
    record Outcome(long total, int read, long digest) {}

    /**
     * What crossed.
     *
     * @param copiedBytes bytes of arguments and results that were written by one side and read by the other
     * @param pointedBytes bytes of the documents that were handed over by a Ref
     */
    record Traffic(long copiedBytes, long pointedBytes) {
        static final Traffic NONE = new Traffic(0, 0);

        Traffic plus(Traffic other) {
            return new Traffic(copiedBytes + other.copiedBytes, pointedBytes + other.pointedBytes);
        }
    }
}
