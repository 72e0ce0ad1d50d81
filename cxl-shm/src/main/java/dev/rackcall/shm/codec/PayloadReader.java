package dev.rackcall.shm.codec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Decodes what {@link PayloadWriter} encoded, without trust. A peer may have written anything and may still be writing.
 * Every byte is fetched from memory once. Lengths and counts are compared with the remaining bytes before anything is
 * allocated for them. No read leaves the range given to {@link #begin}. Invalid input is a {@link PayloadException}.
 *
 * <p><b>Memory.</b> The reader borrows the segment. Memory access is unchecked below this class, so the caller of
 * {@code begin} guarantees that the segment stays mapped until the last read. Values that were read are copies and
 * outlive it.
 *
 * <p><b>Threads.</b> One at a time; reused from call to call. Only the returned values are allocated; text above 4 KiB
 * also takes a temporary array.
 */
public final class PayloadReader {
    private static final int KEPT_SCRATCH = 4 * 1024;
    private static final byte[] NO_BYTES = {};
    private static final char REPLACEMENT = '\uFFFD';

    private ObjectCodec objects = ObjectCodec.NONE;
    private MemorySegment buffer = MemorySegment.NULL;
    private byte[] scratch = new byte[256];
    private long base; // address of the first byte of the buffer
    private long limit;
    private long position;
    private int depth;

    private PayloadReader() {}

    /** Creates a reader without memory. */
    public static PayloadReader create() {
        PayloadWriter.requireLittleEndian();
        return new PayloadReader();
    }

    /** Sets the codec for {@link #readObject}; initially {@link ObjectCodec#NONE}. */
    public PayloadReader objects(ObjectCodec codec) {
        objects = Objects.requireNonNull(codec, "codec");
        return this;
    }

    /**
     * Starts to read {@code length} bytes at {@code offset} of {@code segment}.
     *
     * @param segment native memory that stays mapped until the last read
     * @throws IndexOutOfBoundsException if that range lies outside the segment; the caller checks values from a peer
     * @throws IllegalArgumentException if it is heap memory
     */
    @SuppressWarnings("MemorySegmentReferenceEquality") // an equal segment is only stored once more
    public void begin(MemorySegment segment, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, segment.byteSize());
        // Usually the same as before. A store of a reference would cost a barrier of the collector.
        if (segment != buffer) {
            if (!segment.isNative()) {
                throw new IllegalArgumentException("a payload needs native memory, but " + segment + " is heap memory");
            }
            buffer = segment;
            base = segment.address();
        }
        position = offset;
        limit = offset + length;
        depth = 0;
    }

    /** Starts to read an empty payload, which needs no memory. */
    public void beginEmpty() {
        position = 0;
        limit = 0;
        depth = 0;
    }

    /** Bytes not yet read. */
    public long remaining() {
        return limit - position;
    }

    public boolean readBoolean() {
        long at = claim(1);
        return bool(NativeMemory.ALL.get(ValueLayout.JAVA_BYTE, base + at));
    }

    private static boolean bool(byte value) {
        if ((value & ~1) != 0) {
            throw new PayloadException("a boolean is " + value + " where only 0 and 1 exist");
        }
        return value == 1;
    }

    public byte readByte() {
        long at = claim(Byte.BYTES);
        return NativeMemory.ALL.get(ValueLayout.JAVA_BYTE, base + at);
    }

    public short readShort() {
        long at = claim(Short.BYTES);
        return NativeMemory.ALL.get(ValueLayout.JAVA_SHORT_UNALIGNED, base + at);
    }

    public char readChar() {
        return (char) readShort();
    }

    public int readInt() {
        long at = claim(Integer.BYTES);
        return NativeMemory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, base + at);
    }

    public long readLong() {
        long at = claim(Long.BYTES);
        return NativeMemory.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, base + at);
    }

    public float readFloat() {
        long at = claim(Float.BYTES);
        return NativeMemory.ALL.get(ValueLayout.JAVA_FLOAT_UNALIGNED, base + at);
    }

    public double readDouble() {
        long at = claim(Double.BYTES);
        return NativeMemory.ALL.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, base + at);
    }

    /** A Ref as {@link dev.rackcall.shm.Ref#bits()}. A {@link dev.rackcall.shm.RefSpace} checks where it points. */
    public long readRef() {
        return readLong();
    }

    /**
     * The number of elements that follow.
     *
     * @param minBytesPerElement minimum length of an element in bytes, at least 1. The remaining bytes thereby limit
     *     the count, so allocating that many elements is safe
     */
    public int readCount(int minBytesPerElement) {
        int count = readInt();
        if (count < 0 || (long) count * minBytesPerElement > limit - position) {
            throw new PayloadException("a count says " + count + " elements of at least " + minBytesPerElement
                    + " bytes, but " + remaining() + " bytes remain");
        }
        return count;
    }

    /**
     * Adds an element that was read to its set.
     *
     * @throws PayloadException if the set has an equal one, so that one of the two would be lost. Usually the sender's
     *     version of their class has a component that this version lacks
     */
    public <T> void add(Set<T> set, T element) {
        if (!set.add(element)) {
            throw merged("elements of a Set", element);
        }
    }

    /** As {@link #add}, for the entry of a map. */
    public <K, V> void put(Map<K, V> map, K key, V value) {
        int before = map.size();
        map.put(key, value);
        if (map.size() == before) {
            throw merged("keys of a Map", key);
        }
    }

    private static PayloadException merged(String what, Object equal) {
        return new PayloadException(
                "two " + what + " of " + equal.getClass() + " are equal here, and one would be lost: their"
                        + " sender's version may have a component that this one lacks, or its collection may compare by something"
                        + " other than equals");
    }

    public String readString() {
        int length = readCount(1);
        if (length == 0) {
            return "";
        }
        byte[] bytes = scratch(length);
        take(bytes, length);
        return decode(bytes, length);
    }

    /**
     * Decodes the first {@code length} bytes, which no peer may be able to change. Unlike {@code new String(byte[])},
     * rejects invalid UTF-8.
     */
    private static String decode(byte[] bytes, int length) {
        String text = new String(bytes, 0, length, StandardCharsets.UTF_8);
        // The decoder replaces invalid bytes by U+FFFD, which may also have been sent. Encoding gives the same bytes
        // again only if every U+FFFD was sent. The search is free for Latin-1 text.
        if (text.indexOf(REPLACEMENT) >= 0) {
            byte[] again = text.getBytes(StandardCharsets.UTF_8);
            if (!Arrays.equals(again, 0, again.length, bytes, 0, length)) {
                throw new PayloadException("a String of " + length + " bytes is not well-formed UTF-8");
            }
        }
        return text;
    }

    /**
     * An enum constant.
     *
     * @param constants all constants of the type in order; not changed
     */
    public <E extends Enum<E>> E readEnum(E[] constants) {
        int ordinal = readInt();
        if (ordinal < 0 || ordinal >= constants.length) {
            throw new PayloadException("ordinal " + ordinal + " of enum "
                    + constants.getClass().getComponentType().getName() + ", which has " + constants.length
                    + " constants");
        }
        return constants[ordinal];
    }

    /** An object of a registered class, by the {@link ObjectCodec}. */
    public <T> T readObject(Class<T> type) {
        Object value = objects.read(this);
        if (!type.isInstance(value)) {
            throw new PayloadException("an object of class "
                    + (value == null ? "null" : value.getClass().getName()) + " where " + type.getName() + " belongs");
        }
        return type.cast(value);
    }

    public byte[] readBytes() {
        int length = readCount(1);
        if (length == 0) {
            return NO_BYTES;
        }
        byte[] value = new byte[length];
        take(value, length);
        return value;
    }

    /**
     * Skips bytes.
     *
     * @throws PayloadException if fewer remain, or if {@code length} is negative
     */
    public void skip(long length) {
        if (length < 0) {
            throw new PayloadException("a length of " + length + " bytes");
        }
        claim(length);
    }

    /** Reads {@code length} bytes into native memory. */
    public void read(MemorySegment into, long offset, long length) {
        if (length < 0) {
            throw new PayloadException("a length of " + length + " bytes");
        }
        MemorySegment.copy(buffer, claim(length), into, offset, length);
    }

    /**
     * Enters a value that may contain itself.
     *
     * @param name the type, for the message
     * @throws PayloadException if the value is nested deeper than {@link PayloadWriter#MAX_DEPTH}
     */
    public void enter(String name) {
        if (++depth > PayloadWriter.MAX_DEPTH) {
            throw new PayloadException(name + " is nested more than " + PayloadWriter.MAX_DEPTH + " deep");
        }
    }

    /**
     * Leaves the value that {@link #enter} entered. Not needed after an exception, since {@link #begin} resets the
     * depth.
     */
    public void leave() {
        depth--;
    }

    /**
     * Checks that everything was read.
     *
     * @throws PayloadException if bytes are left over
     */
    public void expectEnd() {
        if (position != limit) {
            throw new PayloadException(remaining() + " bytes are left over behind the last value");
        }
    }

    private void take(byte[] into, int length) {
        long at = claim(length);
        MemorySegment.copy(NativeMemory.ALL, ValueLayout.JAVA_BYTE, base + at, into, 0, length);
    }

    private byte[] scratch(int length) {
        if (length <= scratch.length) {
            return scratch;
        }
        if (length > KEPT_SCRATCH) {
            return new byte[length];
        }
        scratch = new byte[Integer.highestOneBit(length - 1) << 1];
        return scratch;
    }

    /** The memory that offsets refer to. */
    MemorySegment buffer() {
        return buffer;
    }

    /** Skips that many bytes, if so many remain, and returns the offset of the first. */
    long claim(long bytes) {
        long at = position;
        // Not at + bytes > limit: a length from a peer may overflow the sum.
        if (bytes < 0 || bytes > limit - at) {
            throw new PayloadException(bytes + " bytes expected, but " + (limit - at) + " remain");
        }
        position = at + bytes;
        return at;
    }
}
