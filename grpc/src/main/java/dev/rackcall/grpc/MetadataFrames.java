package dev.rackcall.grpc;

import dev.rackcall.grpc.wire.FrameBreachException;
import dev.rackcall.rpc.spi.LimitedLog;
import io.grpc.InternalMetadata;
import io.grpc.Metadata;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Metadata as bytes: the number of entries, then name and value of each after their lengths, all in network byte order.
 * Values of {@code -bin} keys are sent as they are.
 */
final class MetadataFrames {
    private static final LimitedLog LOG = LimitedLog.of(MetadataFrames.class);

    /** What HTTP/2 adds to each entry when it counts the size of metadata. */
    private static final int ENTRY_BYTES = 32;

    private static final int MOST_ENTRIES = 0xffff;

    /** Characters of a name in a message; a peer's may have a million. */
    private static final int MOST_SHOWN = 100;

    private static final byte[] BINARY = Metadata.BINARY_HEADER_SUFFIX.getBytes(StandardCharsets.US_ASCII);

    private MetadataFrames() {}

    /**
     * Encodes metadata after other fields. Leaves out entries that no peer takes, with a warning, as gRPC's transport
     * over HTTP/2 does: one header must not end the calls of others.
     */
    static byte[] encode(Metadata metadata, byte[]... fields) {
        byte[][] entries = InternalMetadata.serialize(metadata);
        int bytes = Short.BYTES;
        for (byte[] field : fields) {
            bytes += Integer.BYTES + field.length;
        }
        int count = 0;
        for (int i = 0; i < entries.length; i += 2) {
            String fault =
                    count == MOST_ENTRIES ? "metadata after " + count + " entries" : fault(entries[i], entries[i + 1]);
            if (fault != null) {
                warn(fault);
                continue;
            }
            entries[2 * count] = entries[i];
            entries[2 * count + 1] = entries[i + 1];
            count++;
            bytes += 2 * Integer.BYTES + entries[i].length + entries[i + 1].length;
        }
        ByteBuffer out = ByteBuffer.allocate(bytes);
        for (byte[] field : fields) {
            out.putInt(field.length).put(field);
        }
        out.putShort((short) count);
        for (int i = 0; i < 2 * count; i++) {
            out.putInt(entries[i].length).put(entries[i]);
        }
        return out.array();
    }

    private static void warn(String fault) {
        LOG.warn(
                "{} is not sent: text is printable ASCII (give other values a key that ends in {}), and a call has at most {} entries",
                fault,
                Metadata.BINARY_HEADER_SUFFIX,
                MOST_ENTRIES);
    }

    /** The size by HTTP/2's rule, which gRPC's limit counts, of the metadata that {@link #decode} is about to read. */
    static long size(ByteBuffer in) {
        if (in.remaining() < Short.BYTES) {
            throw new FrameBreachException("metadata ends early");
        }
        int count = in.getShort(in.position()) & MOST_ENTRIES;
        // What decode() accepts has two lengths per entry, and nothing else.
        return in.remaining() - Short.BYTES + (long) count * (ENTRY_BYTES - 2 * Integer.BYTES);
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
            String fault = fault(entries[i], entries[i + 1]);
            if (fault != null) {
                throw new FrameBreachException(fault);
            }
        }
        if (in.hasRemaining()) {
            throw new FrameBreachException(in.remaining() + " bytes after metadata");
        }
        return InternalMetadata.newMetadata(entries);
    }

    /**
     * What is wrong with an entry, or null. Applications print names and values, so both must be valid for gRPC's own
     * keys. The text is free of the value, which may be secret.
     */
    private static String fault(byte[] name, byte[] value) {
        if (name.length == 0) {
            return "metadata with an empty name";
        }
        for (byte b : name) {
            if (!((b >= 'a' && b <= 'z') || (b >= '0' && b <= '9') || b == '-' || b == '_' || b == '.')) {
                return "metadata whose name has the byte " + b;
            }
        }
        if (isBinary(name)) {
            return null;
        }
        for (byte b : value) {
            if (b < ' ' || b > '~') {
                return "metadata " + new String(name, 0, Math.min(name.length, MOST_SHOWN), StandardCharsets.US_ASCII)
                        + " whose text has the byte " + b;
            }
        }
        return null;
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
