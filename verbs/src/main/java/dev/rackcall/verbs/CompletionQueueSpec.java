package dev.rackcall.verbs;

import java.util.Objects;
import java.util.Optional;

/**
 * What a completion queue shall be.
 *
 * @param capacity entries at least
 * @param channel where it announces completions, if anybody shall sleep
 * @param busyPolled whether a thread polls it all the time. The software device then moves its traffic on that thread, which saves two
 *     thread switches a round trip; its own threads take over whenever the polling pauses. Real devices ignore it.
 */
public record CompletionQueueSpec(int capacity, Optional<CompletionChannel> channel, boolean busyPolled) {
    /** Checks the values. */
    public CompletionQueueSpec {
        Objects.requireNonNull(channel, "channel");
        if (capacity < 1) {
            throw new IllegalArgumentException("a completion queue needs room for 1 entry at least, not " + capacity);
        }
    }

    /** A queue of this many entries that is polled now and then. */
    public static CompletionQueueSpec of(int capacity) {
        return new CompletionQueueSpec(capacity, Optional.empty(), false);
    }

    /** The same with announcements on this channel. */
    public CompletionQueueSpec on(CompletionChannel announcements) {
        return new CompletionQueueSpec(capacity, Optional.of(announcements), busyPolled);
    }

    /** The same for a thread that does nothing but poll. */
    public CompletionQueueSpec polledBusily() {
        return new CompletionQueueSpec(capacity, channel, true);
    }
}
