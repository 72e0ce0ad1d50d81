package dev.rackcall.verbs;

import java.time.Duration;
import java.util.Optional;

/**
 * Lets a thread sleep until a completion queue has something new. The pattern of verbs: {@link CompletionQueue#requestNotification}, poll
 * until empty, {@link #await}, and again from the start.
 */
public interface CompletionChannel extends AutoCloseable {
    /**
     * Waits for the next announcement and acknowledges it.
     *
     * @return the completion queue that announced itself, or empty after this time
     */
    Optional<CompletionQueue> await(Duration atMost);

    @Override
    void close();
}
