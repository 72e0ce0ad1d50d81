package dev.rackcall.samples.demo;

import dev.rackcall.shm.waiting.WaitStrategy;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The settings of a run.
 *
 * @param input the source of the documents
 * @param clients the number of client processes
 * @param searches searches of all clients together; as many documents are got by their numbers
 * @param batch documents that a client hands over in one call
 */
public record DemoPlan(Input input, int clients, int searches, int batch) {
    /**
     * Documents that a client prepares in its heap before the clock starts. It hands them over, and then prepares the
     * next ones.
     */
    static final int WINDOW = 10_000;

    /**
     * Documents that a client hands over before measurement starts: as many as the compiler needs to be done, but at
     * most {@link #MOST_ROUNDS} times its own.
     */
    static final int WARM_UP = 30_000;

    /** How often a client's warm-up repeats its documents at most. A demo of few documents shows that it works, not how fast. */
    static final int MOST_ROUNDS = 10;

    /** Searches and gets that a client makes before measurement starts, at most as many as it makes afterwards. */
    static final int WARM_UP_SEARCHES = 5_000;

    /** The number of found documents that a search returns and the client reads. */
    static final int LIMIT = 10;

    /**
     * Processes spin only if each has its own processor; otherwise spinning takes processors from processes that have
     * work.
     */
    WaitStrategy waiting() {
        return clients + 1 > Runtime.getRuntime().availableProcessors()
                ? WaitStrategy.blocking()
                : WaitStrategy.adaptive();
    }

    int searchesOf(int client) {
        return searches / clients + (client < searches % clients ? 1 : 0);
    }

    /**
     * The source of the documents.
     *
     * @param file lines of JSON; if empty, documents are generated
     * @param count how many to generate
     * @param seed of the generated documents and of the searches
     */
    public record Input(Optional<Path> file, long count, long seed) {}
}
