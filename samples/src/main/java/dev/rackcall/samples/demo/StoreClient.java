package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.JsonDocument;
import java.io.IOException;
import java.util.List;

/** A client of the store over one transport. Used by one thread. */
abstract class StoreClient implements AutoCloseable {
    private long copiedBytes;
    private long pointedBytes;

    /** Hands documents over; returns when the store has them. */
    abstract void put(List<JsonDocument> batch) throws IOException;

    /** Gets the document with that number and reads it completely; returns its digest. */
    abstract long get(long number) throws IOException;

    /** Searches, and reads every returned document completely. */
    abstract Outcome search(QueryPlan.Query query) throws IOException;

    @Override
    public abstract void close() throws IOException;

    /** Counts bytes between the processes. */
    final void count(long copied, long pointed) {
        copiedBytes += copied;
        pointedBytes += pointed;
    }

    /** The traffic since the last call of this method. */
    final Traffic takeTraffic() {
        Traffic taken = new Traffic(copiedBytes, pointedBytes);
        copiedBytes = 0;
        pointedBytes = 0;
        return taken;
    }

    /**
     * The result of a search.
     *
     * @param total how many documents match
     * @param read how many of them were returned and read
     * @param digest of the documents that were read, in order
     */
    record Outcome(long total, int read, long digest) {}

    /**
     * Bytes between the processes.
     *
     * @param copiedBytes arguments and results that one side wrote and the other read
     * @param pointedBytes documents that were handed over by a Ref
     */
    record Traffic(long copiedBytes, long pointedBytes) {}
}
