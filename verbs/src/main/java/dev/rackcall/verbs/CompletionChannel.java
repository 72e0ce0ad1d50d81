package dev.rackcall.verbs;

import java.time.Duration;
import java.util.Optional;

/**
 * Lets a thread sleep until a completion queue has new entries. Repeat: {@link CompletionQueue#requestNotification},
 * poll until empty, {@link #await}.
 */
public interface CompletionChannel extends AutoCloseable {
    /**
     * Waits for the next notification and acknowledges it.
     *
     * @return the completion queue that sent it, or empty after this time
     */
    Optional<CompletionQueue> await(Duration atMost);

    @Override
    void close();
}
