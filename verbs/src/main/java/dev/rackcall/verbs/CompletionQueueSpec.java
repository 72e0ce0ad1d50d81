package dev.rackcall.verbs;

import java.util.Objects;
import java.util.Optional;

/**
 * The properties of a new completion queue.
 *
 * @param capacity minimum number of entries
 * @param channel the channel for its notifications, if a thread sleeps until completions arrive
 * @param busyPolled whether a thread polls it all the time. The software device then reads its connections on that
 *     thread, which saves two thread switches per round trip; its event loop takes over when polling pauses. Real
 *     devices ignore it.
 */
public record CompletionQueueSpec(int capacity, Optional<CompletionChannel> channel, boolean busyPolled) {
    /** Checks the values. */
    public CompletionQueueSpec {
        Objects.requireNonNull(channel, "channel");
        if (capacity < 1) {
            throw new IllegalArgumentException("a completion queue needs room for 1 entry at least, not " + capacity);
        }
    }

    /** A queue of this many entries that is polled occasionally. */
    public static CompletionQueueSpec of(int capacity) {
        return new CompletionQueueSpec(capacity, Optional.empty(), false);
    }

    /** The same with notifications on this channel. */
    public CompletionQueueSpec on(CompletionChannel notifications) {
        return new CompletionQueueSpec(capacity, Optional.of(notifications), busyPolled);
    }

    /** The same for a thread that polls all the time. */
    public CompletionQueueSpec polledBusily() {
        return new CompletionQueueSpec(capacity, channel, true);
    }
}
