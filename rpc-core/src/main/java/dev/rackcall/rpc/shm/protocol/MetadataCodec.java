package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;

/** Encodes metadata and statuses in payloads: a count, then keys with text or bytes. */
public final class MetadataCodec {
    private static final int MIN_PAIR_BYTES = 8;
    /** In characters: a description may quote what a peer sent. */
    private static final int MAX_DESCRIPTION = 16 << 10;

    private MetadataCodec() {}

    public static void write(PayloadWriter out, Metadata metadata) {
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

    public static Metadata read(PayloadReader in) {
        int count = in.readCount(MIN_PAIR_BYTES);
        if (count > Metadata.MAX_PAIRS) {
            throw new PayloadException(
                    "a peer sent metadata of " + count + " pairs; at most " + Metadata.MAX_PAIRS + " may be");
        }
        Metadata.Builder metadata = Metadata.builder();
        for (int i = 0; i < count; i++) {
            String key = in.readString();
            try {
                if (key.endsWith(Metadata.BINARY_SUFFIX)) {
                    metadata.add(key, in.readBytes());
                } else {
                    metadata.add(key, in.readString());
                }
            } catch (IllegalArgumentException e) {
                throw new PayloadException("a peer sent metadata that is none: " + e.getMessage(), e);
            }
        }
        return metadata.build();
    }

    /**
     * Appends trailers to a result: the metadata, then the number of its bytes. They come last because a handler may
     * add them late.
     */
    public static void appendTrailers(PayloadWriter out, Metadata trailers) {
        long begin = out.length();
        write(out, trailers);
        out.writeInt((int) (out.length() - begin));
    }

    /**
     * Reads the trailers behind a result of an untrusted peer, and begins to read the result.
     *
     * @param in positioned by this method
     * @param at offset of the result in {@code memory}
     * @param length in bytes, with the trailers
     * @throws PayloadException if there are no such trailers
     */
    public static Metadata readTrailers(PayloadReader in, MemorySegment memory, long at, long length) {
        long end = length - Integer.BYTES;
        if (end < 0) {
            throw new PayloadException("trailers in a payload of " + length + " bytes");
        }
        in.begin(memory, at + end, Integer.BYTES);
        int bytes = in.readInt();
        if (bytes < 0 || bytes > end) {
            throw new PayloadException("trailers of " + bytes + " bytes in a payload of " + length);
        }
        in.begin(memory, at + end - bytes, bytes);
        Metadata trailers = read(in);
        in.expectEnd();
        in.begin(memory, at, end - bytes);
        return trailers;
    }

    public static void writeFailure(PayloadWriter out, Status status, Metadata trailers) {
        String description = status.description();
        out.writeString(
                description.length() <= MAX_DESCRIPTION ? description : description.substring(0, MAX_DESCRIPTION),
                "description");
        write(out, trailers);
    }
}
