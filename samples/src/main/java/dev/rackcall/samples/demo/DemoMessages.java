package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.BadLine;
import java.nio.file.Path;
import java.util.List;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * What the conductor and its processes say to each other, one line of JSON each: {@link Setup} as the process's argument, {@link Order}s to its
 * standard input, and on its standard output {@link #OK} with an answer, {@link #FAILED} with a sentence, or {@link #PROGRESS} in between.
 */
final class DemoMessages {
    static final String OK = "ok ";
    static final String FAILED = "failed ";
    static final String PROGRESS = "progress ";

    static final JsonMapper MAPPER = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .build();

    private DemoMessages() {}

    /** What a process is. */
    enum Role {
        SERVER,
        CLIENT
    }

    /** What a process is told at its start; {@code client} is its number, if it is one. */
    record Setup(Role role, StoreTransport transport, Path directory, DemoPlan plan, int client) {}

    /** What a process can be told to do. */
    enum Order {
        /** A client reads or makes its next documents; the answer is {@link Prepared}. */
        PREPARE,
        /** A client hands over some of them and searches, so that its code and the server's is compiled; {@link Done}. */
        WARM_UP,
        /** The server forgets all documents; {@link Done}. */
        CLEAR,
        /** A client hands over what it has prepared; {@link Work}. */
        BUILD,
        /** A client makes all its searches; {@link Work}. */
        SEARCH,
        /** The server says what it has; {@code Store.Summary}. */
        SUMMARY,
        QUIT
    }

    /** There is nothing to say. */
    record Done() {}

    /**
     * Documents are ready to be handed over.
     *
     * @param documents how many
     * @param digest the sum of their digests
     * @param more whether there may be more after these
     * @param bad the first of the lines that were passed over
     * @param badLines how many those were
     */
    record Prepared(long documents, long digest, boolean more, List<BadLine> bad, long badLines) {}

    /**
     * A client has done something that is measured.
     *
     * @param startNanos by the clock that all processes of a machine share
     * @param endNanos by the same clock
     * @param items documents that were handed over, or read after they were found
     * @param latencies of the calls, see {@link Latencies}
     * @param traffic what crossed
     * @param totals of searches: how many documents match each
     * @param digests of searches: what was read
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
