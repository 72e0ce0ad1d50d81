package dev.rackcall.grpc;

import dev.rackcall.grpc.wire.FrameBreachException;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Metadata as bytes: the number of entries, then name and value of each after their lengths, all in network byte order.
 * Values of {@code -bin} keys are sent as they are.
 */
final class MetadataFrames {
    /** What HTTP/2 adds to each entry when it counts the size of metadata. */
    private static final int ENTRY_BYTES = 32;

    private static final int MOST_ENTRIES = 0xffff;

    private static final byte[] BINARY = Metadata.BINARY_HEADER_SUFFIX.getBytes(StandardCharsets.US_ASCII);

    private MetadataFrames() {}

    /** Encodes metadata after other fields. */
    static byte[] encode(Metadata metadata, byte[]... fields) {
        byte[][] entries = InternalMetadata.serialize(metadata);
        int bytes = Short.BYTES;
        for (byte[] field : fields) {
            bytes += Integer.BYTES + field.length;
        }
        for (byte[] part : entries) {
            bytes += Integer.BYTES + part.length;
        }
        ByteBuffer out = ByteBuffer.allocate(bytes);
        for (byte[] field : fields) {
            out.putInt(field.length).put(field);
        }
        out.putShort((short) (entries.length / 2));
        for (byte[] part : entries) {
            out.putInt(part.length).put(part);
        }
        return out.array();
    }

    /** The size of metadata by HTTP/2's rule, which gRPC's limit counts. */
    static long size(Metadata metadata) {
        long size = 0;
        byte[][] entries = InternalMetadata.serialize(metadata);
        for (int i = 0; i < entries.length; i += 2) {
            size += ENTRY_BYTES + entries[i].length + entries[i + 1].length;
        }
        return size;
    }

    /** Reads the next field that {@link #encode} put before the metadata. */
    static byte[] field(ByteBuffer in) {
        if (in.remaining() < Integer.BYTES) {
            throw new FrameBreachException("metadata ends early");
        }
        int length = in.getInt();
        if (length < 0 || length > in.remaining()) {
            throw new FrameBreachException("a field of " + length + " bytes in metadata with " + in.remaining());
        }
        byte[] field = new byte[length];
        in.get(field);
        return field;
    }

    /** Reads the metadata, the rest of {@code in}. */
    static Metadata decode(ByteBuffer in) {
        if (in.remaining() < Short.BYTES) {
            throw new FrameBreachException("metadata ends early");
        }
        int count = in.getShort() & MOST_ENTRIES;
        if ((long) count * 2 * Integer.BYTES > in.remaining()) {
            throw new FrameBreachException("metadata with " + count + " entries in " + in.remaining() + " bytes");
        }
        byte[][] entries = new byte[2 * count][];
        for (int i = 0; i < entries.length; i += 2) {
            entries[i] = field(in);
            entries[i + 1] = field(in);
            requireEntry(entries[i], entries[i + 1]);
        }
        if (in.hasRemaining()) {
            throw new FrameBreachException(in.remaining() + " bytes after metadata");
        }
        return InternalMetadata.newMetadata(entries);
    }

    /** Applications print names and values, so both must be valid for gRPC's own keys. */
    private static void requireEntry(byte[] name, byte[] value) {
        if (name.length == 0) {
            throw new FrameBreachException("metadata with an empty name");
        }
        for (byte b : name) {
            if (!((b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') || b == '-' || b == '_' || b == '.')) {
                throw new FrameBreachException("metadata whose name has the byte " + b);
            }
        }
        if (isBinary(name)) {
            return;
        }
        for (byte b : value) {
            if (b < ' ' || b > '~') {
                throw new FrameBreachException("metadata whose text has the byte " + b);
            }
        }
    }

    private static boolean isBinary(byte[] name) {
        int from = name.length - BINARY.length;
        if (from < 0) {
            return false;
        }
        for (int i = 0; i < BINARY.length; i++) {
            if (name[from + i] != BINARY[i]) {
                return false;
            }
        }
        return true;
    }
}
