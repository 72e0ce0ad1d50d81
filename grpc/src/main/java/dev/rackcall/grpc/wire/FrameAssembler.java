package dev.rackcall.grpc.wire;

import java.util.Arrays;

/** Puts long metadata together, which travels in several frames. For the thread that receives. */
final class FrameAssembler {
    private static final byte[] NOTHING = new byte[0];

    /** The payload so far, of which the first {@code length} bytes count. */
    private byte[] partial = NOTHING;

    private int length;
    /** The frame that must be continued; 0 if there is none. */
    private int kind;

    private int stream;

    /**
     * Returns the payload of a frame that needs no continuation, or null if the frame is to be continued.
     *
     * @throws FrameBreachException if another frame comes in between, or the metadata is too long
     */
    byte[] whole(int given, int flags, int number, byte[] payload) {
        boolean metadata = given == Frame.OPEN || given == Frame.HEADERS || given == Frame.TRAILERS;
        if (kind != 0 && (given != kind || number != stream)) {
            throw new FrameBreachException(
                    "a frame " + given + " of stream " + number + " inside the frame " + kind + " of stream " + stream);
        }
        boolean more = metadata && (flags & Frame.MORE) != 0;
        if (!more && kind == 0) {
            return payload;
        }
        collect(payload, more);
        if (more) {
            kind = given;
            stream = number;
            return null;
        }
        byte[] whole = Arrays.copyOf(partial, length);
        partial = NOTHING;
        length = 0;
        kind = 0;
        return whole;
    }

    private void collect(byte[] payload, boolean more) {
        if (more && payload.length < PipeSender.WORTH_BYTES) {
            // Else a peer's bytes would cost this end many times as many.
            throw new FrameBreachException("metadata is continued after a frame of " + payload.length
                    + " instead of at least " + PipeSender.WORTH_BYTES + " bytes");
        }
        int longer = length + payload.length;
        if (longer > PipeSender.MAX_METADATA_BYTES) {
            throw new FrameBreachException("metadata of more than " + PipeSender.MAX_METADATA_BYTES + " bytes");
        }
        if (longer > partial.length) {
            partial = Arrays.copyOf(partial, Math.max(longer, 2 * partial.length));
        }
        System.arraycopy(payload, 0, partial, length, payload.length);
        length = longer;
    }
}
