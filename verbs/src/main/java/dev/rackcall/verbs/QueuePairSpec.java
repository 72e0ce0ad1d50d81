package dev.rackcall.verbs;

import java.util.Objects;
import java.util.Optional;

/**
 * The properties of a new queue pair. Start with {@link #of} and change it with the {@code with} methods.
 *
 * @param type its kind
 * @param sendQueue the completion queue of sends
 * @param receiveQueue the completion queue of receives
 * @param shared the shared receive queue, if the queue pair has no receive queue of its own
 * @param maxSends outstanding send requests
 * @param maxReceives outstanding receive requests
 * @param maxSegments scatter-gather entries of a request
 * @param maxInline bytes that can travel inside a send request
 * @param targetKey the key that initiators need (DC_TARGET only)
 */
public record QueuePairSpec(
        QueuePairType type,
        CompletionQueue sendQueue,
        CompletionQueue receiveQueue,
        Optional<SharedReceiveQueue> shared,
        int maxSends,
        int maxReceives,
        int maxSegments,
        int maxInline,
        long targetKey) {
    /** Checks the values. */
    public QueuePairSpec {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(sendQueue, "sendQueue");
        Objects.requireNonNull(receiveQueue, "receiveQueue");
        Objects.requireNonNull(shared, "shared");
        if (maxSends < 1 || maxReceives < 0 || maxSegments < 1 || maxInline < 0) {
            throw new IllegalArgumentException("not the size of a queue pair: " + maxSends + " sends (1 at least), "
                    + maxReceives + " receives, " + maxSegments + " segments (1 at least), " + maxInline
                    + " bytes inline");
        }
        if (type == QueuePairType.DC_TARGET && shared.isEmpty()) {
            throw new IllegalArgumentException("a DC target needs a shared receive queue: give it one with withShared");
        }
    }

    /** 128 sends, 128 receives, 1 segment, 64 bytes inline; all completions in this queue. */
    public static QueuePairSpec of(QueuePairType type, CompletionQueue completions) {
        return new QueuePairSpec(type, completions, completions, Optional.empty(), 128, 128, 1, 64, 0);
    }

    /** A DC target with its key. */
    public static QueuePairSpec target(CompletionQueue completions, SharedReceiveQueue shared, long key) {
        return new QueuePairSpec(
                QueuePairType.DC_TARGET, completions, completions, Optional.of(shared), 1, 0, 1, 0, key);
    }

    /** The same with another completion queue for receives. */
    public QueuePairSpec withReceiveQueue(CompletionQueue queue) {
        return new QueuePairSpec(
                type, sendQueue, queue, shared, maxSends, maxReceives, maxSegments, maxInline, targetKey);
    }

    /** The same with a shared receive queue. */
    public QueuePairSpec withShared(SharedReceiveQueue queue) {
        return new QueuePairSpec(
                type, sendQueue, receiveQueue, Optional.of(queue), maxSends, 0, maxSegments, maxInline, targetKey);
    }

    /** The same with room for this many outstanding requests. */
    public QueuePairSpec withDepth(int sends, int receives) {
        return new QueuePairSpec(
                type, sendQueue, receiveQueue, shared, sends, receives, maxSegments, maxInline, targetKey);
    }

    /** The same with this many scatter-gather entries per request. */
    public QueuePairSpec withSegments(int segments) {
        return new QueuePairSpec(
                type, sendQueue, receiveQueue, shared, maxSends, maxReceives, segments, maxInline, targetKey);
    }

    /** The same with this many bytes inline. */
    public QueuePairSpec withInline(int bytes) {
        return new QueuePairSpec(
                type, sendQueue, receiveQueue, shared, maxSends, maxReceives, maxSegments, bytes, targetKey);
    }
}
