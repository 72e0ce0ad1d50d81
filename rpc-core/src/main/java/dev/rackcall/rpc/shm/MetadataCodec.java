package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;

/** Metadata and statuses as they stand in payloads: a count, then keys with text or bytes. */
final class MetadataCodec {
    private static final int MIN_PAIR_BYTES = 8;

    private MetadataCodec() {}

    static void write(PayloadWriter out, Metadata metadata) {
        out.writeCount(metadata.keys().size());
        for (String key : metadata.keys()) {
            out.writeString(key, "metadata key");
            if (key.endsWith(Metadata.BINARY_SUFFIX)) {
                out.writeBytes(metadata.bytes(key).orElseThrow(), key);
            } else {
                out.writeString(metadata.text(key).orElseThrow(), key);
            }
        }
    }

    static Metadata read(PayloadReader in) {
        Metadata metadata = Metadata.EMPTY;
        int count = in.readCount(MIN_PAIR_BYTES);
        for (int i = 0; i < count; i++) {
            String key = in.readString();
            try {
                metadata = key.endsWith(Metadata.BINARY_SUFFIX)
                        ? metadata.with(key, in.readBytes())
                        : metadata.with(key, in.readString());
            } catch (IllegalArgumentException e) {
                throw new PayloadException("a peer sent metadata that is none: " + e.getMessage(), e);
            }
        }
        return metadata;
    }

    static void writeFailure(PayloadWriter out, Status status, Metadata trailers) {
        out.writeString(status.description(), "description");
        write(out, trailers);
    }
}
