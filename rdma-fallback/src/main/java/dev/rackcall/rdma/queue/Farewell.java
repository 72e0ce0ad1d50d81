package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import java.util.Optional;

/** What a {@link QueueMessage#BYE} says of its reason: a number, since there may be no region left in which a sentence could lie. */
final class Farewell {
    private static final Kind[] KINDS = Kind.values();

    private Farewell() {}

    /** What to say to a peer that cannot be served because of this; 0 if that tells it nothing. */
    static long value(RuntimeException cause) {
        return cause instanceof ControlPlaneException e && isWant(e.kind())
                ? 1 + e.kind().ordinal()
                : 0;
    }

    /** What a peer has said, which may be anything. */
    static Optional<Kind> kind(long value) {
        return value < 1 || value > KINDS.length ? Optional.empty() : Optional.of(KINDS[(int) value - 1]);
    }

    private static boolean isWant(Kind kind) {
        return kind == Kind.QUOTA_EXCEEDED || kind == Kind.TABLE_FULL;
    }

    /** For people, as a clause about the peer. */
    static String describe(Kind kind) {
        return switch (kind) {
            case QUOTA_EXCEEDED ->
                "its tenant of the control plane has as many memory regions and virtual queues as it may; close connections there, or"
                        + " raise AgentOptions.withQuota";
            case TABLE_FULL ->
                "its host's table of memory regions is full; close connections there, or give its agent a larger one";
            default -> "its part of the control plane fails (" + kind + "); its log says why";
        };
    }
}
