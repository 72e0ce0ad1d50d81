package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.BadLine;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * The lines between a demo and its processes. A process gets its setup as an argument and {@link Order}s on standard input; on standard output it
 * writes {@link #OK} with an answer in JSON, {@link #FAILED} with a sentence, or {@link #PROGRESS} with a number.
 */
final class DemoMessages {
    static final String OK = "ok ";
    static final String FAILED = "failed ";
    static final String PROGRESS = "progress ";

    static final JsonMapper MAPPER = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private DemoMessages() {}

    /** The kinds of processes in the store demo. */
    enum Role {
        SERVER,
        CLIENT
    }

    /** The setup of a process of the store demo; {@code client} is a client's number, from 0. */
    record Setup(Role role, StoreTransport transport, Path directory, DemoPlan plan, int client) {}

    /** The orders to a process. */
    enum Order {
        /** A client reads or makes its next documents; the answer is {@link Prepared}. */
        PREPARE,
        /** A client hands over some of them and searches, so that both sides' code is compiled; {@link Done}. */
        WARM_UP,
        /** The server forgets all documents; {@link Done}. */
        CLEAR,
        /** A client hands over what it has prepared; {@link Work}. */
        BUILD,
        /** A client makes all its searches; {@link Work}. */
        SEARCH,
        /** The server describes its content; {@code Store.Summary}. */
        SUMMARY,
        /** A host of the rack demo stops using its pool; no answer. */
        LEAVE_MEMORY,
        /** The host uses its pool again; no answer. */
        TAKE_MEMORY,
        QUIT
    }

    /** An answer without content. */
    record Done() {}

    /**
     * Documents are ready to be handed over.
     *
     * @param documents how many
     * @param digest the sum of their digests
     * @param more whether there may be more after these
     * @param bad the first skipped lines
     * @param badLines how many lines were skipped
     */
    record Prepared(long documents, long digest, boolean more, List<BadLine> bad, long badLines) {}

    /**
     * The measured work of a client.
     *
     * @param startNanos by the clock that all processes of a machine share
     * @param endNanos by the same clock
     * @param items documents that were handed over, or read after they were found
     * @param latencies of the calls, see {@link Latencies}
     * @param traffic the bytes that crossed
     * @param totals of searches: how many documents match each
     * @param digests of searches: of the documents that were read
     */
    record Work(
            long startNanos,
            long endNanos,
            long items,
            String latencies,
            StoreClient.Traffic traffic,
            List<Long> totals,
            List<Long> digests) {}
}
