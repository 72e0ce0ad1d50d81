package dev.rackcall.grpc;

import dev.rackcall.grpc.wire.FrameBreachException;
import dev.rackcall.grpc.wire.OutboundStream;

/**
 * Counts the bytes of a stream's messages that have arrived, and those that the application has consumed. The receiving
 * thread counts the former, the stream's own tasks the latter.
 */
final class InboundBytes {
    private long received;
    private volatile long consumed;
    private long credited;

    /**
     * Counts received bytes.
     *
     * @throws FrameBreachException if the peer had no credit for them
     */
    void came(int bytes) {
        received += bytes;
        if (received - consumed > OutboundStream.WINDOW) {
            throw new FrameBreachException("a stream has sent " + (received - consumed) + " bytes without credit");
        }
    }

    /** Counts consumed bytes; returns whether it is time to give credit for {@link #consumed}. */
    boolean consume(int bytes) {
        long now = consumed + bytes;
        consumed = now;
        if (now - credited < OutboundStream.WINDOW / 2) {
            return false;
        }
        credited = now;
        return true;
    }

    long consumed() {
        return consumed;
    }
}
