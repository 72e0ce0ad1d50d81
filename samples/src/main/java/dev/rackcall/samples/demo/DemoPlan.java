package dev.rackcall.samples.demo;

import dev.rackcall.shm.waiting.WaitStrategy;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What a run of the demo does.
 *
 * @param input where the documents come from
 * @param clients number of client processes
 * @param searches searches in all
 * @param batch documents that a client hands over in one call
 */
public record DemoPlan(Input input, int clients, int searches, int batch) {
    /** Documents that a client prepares in its heap before the clock starts; it then hands them over, and prepares the next ones. */
    static final int WINDOW = 10_000;

    /** Documents that a client hands over before anything is measured. */
    static final int WARM_UP = 5_000;

    /** Searches that a client makes before anything is measured. */
    static final int WARM_UP_SEARCHES = 1_000;

    /** Found documents that a search returns and the client reads. */
    static final int LIMIT = 10;

    /** Spinning is for those who have a processor to themselves; with more processes than that, it takes from others who have work to do. */
    WaitStrategy waiting() {
        return clients + 1 > Runtime.getRuntime().availableProcessors()
                ? WaitStrategy.blocking()
                : WaitStrategy.adaptive();
    }

    int searchesOf(int client) {
        return searches / clients + (client < searches % clients ? 1 : 0);
    }

    /**
     * Where the documents come from.
     *
     * @param file lines of JSON; if empty, documents are generated
     * @param count how many to generate
     * @param seed of the generated documents and of the searches
     */
    public record Input(Optional<Path> file, long count, long seed) {}
}
