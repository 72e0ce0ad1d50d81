package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import java.util.Optional;

/** The reason in a {@link QueueMessage#BYE}: a number, because there may be no region left for a text. */
final class Farewell {
    private static final Kind[] KINDS = Kind.values();

    private Farewell() {}

    /** The number for a peer whose connection ends for this cause; 0 if the cause is of no use to the peer. */
    static long value(RuntimeException cause) {
        return cause instanceof ControlPlaneException e && isWant(e.kind())
                ? 1 + e.kind().ordinal()
                : 0;
    }

    /** The reason for a peer's number, which may be any. */
    static Optional<Kind> kind(long value) {
        return value < 1 || value > KINDS.length ? Optional.empty() : Optional.of(KINDS[(int) value - 1]);
    }

    private static boolean isWant(Kind kind) {
        return kind == Kind.QUOTA_EXCEEDED || kind == Kind.TABLE_FULL;
    }

    /** A clause about the peer, for messages. */
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
