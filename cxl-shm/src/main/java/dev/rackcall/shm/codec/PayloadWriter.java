package dev.rackcall.shm.codec;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Encodes ordinary Java values into a call's memory, without padding or alignment. Integers and floats are
 * little-endian.
 *
 * <table>
 * <caption>What lies in memory</caption>
 * <tr><th>value</th><th>bytes</th></tr>
 * <tr><td>boolean, byte</td><td>1; a boolean is 0 or 1</td></tr>
 * <tr><td>short, char</td><td>2</td></tr>
 * <tr><td>int, float, a count, an enum's ordinal</td><td>4</td></tr>
 * <tr><td>long, double, a Ref</td><td>8</td></tr>
 * <tr><td>String</td><td>4 for the number of UTF-8 bytes, then those bytes</td></tr>
 * <tr><td>byte[]; other arrays and values of the JDK: {@link PrimitiveArrays}, {@link JdkValues}</td>
 * <td>4 for the number of elements, then the elements</td></tr>
 * </table>
 *
 * <p><b>Memory.</b> The writer borrows the segment given to {@link #begin} and never frees it. When a value does not
 * fit, it requests a larger segment from its {@link Growth} and continues there, so a write never overflows. Memory
 * access is unchecked below this class, so the caller of {@code begin} guarantees that the segment stays mapped until
 * the last write.
 *
 * <p><b>Threads.</b> One at a time; reused from call to call. Nothing is allocated per call or per value.
 *
 * <p><b>Errors.</b> A value that cannot be sent is a {@link PayloadException}. The payload written so far is then
 * useless.
 */
public final class PayloadWriter {
    /**
     * The maximum nesting depth of records; deeper ones are treated as an attack or an endless structure. Decoding
     * could go deeper, but a handler's use of the record, even {@code hashCode}, needs kilobytes of stack for each
     * level.
     */
    public static final int MAX_DEPTH = 128;

    /** Provides memory when a payload does not fit. */
    @FunctionalInterface
    public interface Growth {
        /**
         * Returns a native segment of at least {@code needed} bytes that starts with a copy of the first {@code used}
         * bytes of {@code old}. Grow by factors, not by steps, since this is called once for each value that does not
         * fit.
         *
         * @throws RuntimeException if there is no such memory; the write passes it on to its caller
         */
        MemorySegment grow(MemorySegment old, long used, long needed);
    }

    /**
     * Grows in private memory, by factors. For a payload that is encoded before its place in shared memory is known, or
     * converted.
     */
    public static final Growth PRIVATE = PayloadWriter::growPrivately;

    private static final long FIRST_PRIVATE_BYTES = 1 << 10;

    private static final int SHORT_TEXT = 16;
    private static final int FIRST_BEYOND_ASCII = 0x80;

    private final Growth growth;
    private ObjectCodec objects = ObjectCodec.NONE;
    private MemorySegment buffer = MemorySegment.NULL;
    private TextEncoder encoder; // created for the first text that needs it, since most of the many writers have none
    private long base; // address of the first byte of the buffer
    private long limit;
    private long position;
    private int depth;

    private PayloadWriter(Growth growth) {
        this.growth = Objects.requireNonNull(growth, "growth");
    }

    /** Creates a writer without memory. */
    public static PayloadWriter create(Growth growth) {
        requireLittleEndian();
        return new PayloadWriter(growth);
    }

    private static MemorySegment growPrivately(MemorySegment old, long used, long needed) {
        long bytes = Math.max(FIRST_PRIVATE_BYTES, Math.max(needed, 2 * old.byteSize()));
        return Arena.ofAuto().allocate(bytes).copyFrom(old.asSlice(0, used));
    }

    /** Payloads are little-endian, like every supported machine, so values are copied as they are. */
    static void requireLittleEndian() {
        if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            throw new UnsupportedOperationException(
                    "payloads are little-endian and this machine (" + System.getProperty("os.arch") + ") is not");
        }
    }

    /** Sets the codec for {@link #writeObject}; initially {@link ObjectCodec#NONE}. */
    public PayloadWriter objects(ObjectCodec codec) {
        objects = Objects.requireNonNull(codec, "codec");
        return this;
    }

    /**
     * Starts a payload at the first byte of {@code buffer}.
     *
     * @param buffer native memory that stays mapped until the last write, or {@link MemorySegment#NULL} to grow at the
     *     first write
     * @throws IllegalArgumentException if it is heap memory
     */
    public void begin(MemorySegment buffer) {
        point(buffer);
        position = 0;
        depth = 0;
    }

    @SuppressWarnings("MemorySegmentReferenceEquality") // an equal segment is only stored once more
    private void point(MemorySegment segment) {
        if (segment == buffer) {
            // The usual case. A store of a reference would cost a barrier of the collector.
            return;
        }
        if (!segment.isNative()) {
            throw new IllegalArgumentException("a payload needs native memory, but " + segment + " is heap memory");
        }
        buffer = segment;
        base = segment.address();
        limit = segment.byteSize();
    }

    /** Bytes written since {@link #begin}. */
    public long length() {
        return position;
    }

    /** The payload's memory: the segment given to {@link #begin}, or the last one from {@link Growth}. */
    public MemorySegment buffer() {
        return buffer;
    }

    public void writeBoolean(boolean value) {
        long at = claim(1);
        NativeMemory.ALL.set(ValueLayout.JAVA_BYTE, base + at, value ? (byte) 1 : (byte) 0);
    }

    public void writeByte(byte value) {
        long at = claim(Byte.BYTES);
        NativeMemory.ALL.set(ValueLayout.JAVA_BYTE, base + at, value);
    }

    public void writeShort(short value) {
        long at = claim(Short.BYTES);
        NativeMemory.ALL.set(ValueLayout.JAVA_SHORT_UNALIGNED, base + at, value);
    }

    public void writeChar(char value) {
        writeShort((short) value);
    }

    public void writeInt(int value) {
        long at = claim(Integer.BYTES);
        NativeMemory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, base + at, value);
    }

    public void writeLong(long value) {
        long at = claim(Long.BYTES);
        NativeMemory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, base + at, value);
    }

    public void writeFloat(float value) {
        long at = claim(Float.BYTES);
        NativeMemory.ALL.set(ValueLayout.JAVA_FLOAT_UNALIGNED, base + at, value);
    }

    public void writeDouble(double value) {
        long at = claim(Double.BYTES);
        NativeMemory.ALL.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, base + at, value);
    }

    /** A Ref, as {@link dev.rackcall.shm.Ref#bits()}. */
    public void writeRef(long bits) {
        writeLong(bits);
    }

    /** The number of elements that follow. */
    public void writeCount(int count) {
        writeInt(count);
    }

    /** Reserves room for a count that is known only after its elements; returns its position for {@link #setCount}. */
    public long reserveCount() {
        return claim(Integer.BYTES);
    }

    /** Fills in a count reserved by {@link #reserveCount}. */
    public void setCount(long at, int count) {
        if (at < 0 || at + Integer.BYTES > position) {
            throw new IllegalArgumentException(
                    "no count was reserved at " + at + ", the payload has " + position + " bytes");
        }
        NativeMemory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, base + at, count);
    }

    /**
     * Text as UTF-8.
     *
     * @param name what the value is to the user, for messages
     * @throws PayloadException if it is null or holds half a surrogate pair, which UTF-8 cannot express
     */
    public void writeString(String value, String name) {
        if (required(value, name).length() > SHORT_TEXT || !writeShortAscii(value)) {
            if (encoder == null) {
                encoder = new TextEncoder();
            }
            encoder.write(value, this, name);
        }
    }

    /**
     * The fast path for short names and keys. Returns false and appends nothing if the text is not pure ASCII. Eight
     * characters are checked and stored at once, which takes half the time of a store per character.
     */
    private boolean writeShortAscii(String value) {
        int chars = value.length();
        long start = claim((long) Integer.BYTES + chars);
        long at = start + Integer.BYTES;
        int seen = 0;
        int done = 0;
        for (; done + Long.BYTES <= chars; done += Long.BYTES) {
            long eight = 0;
            for (int i = 0; i < Long.BYTES; i++) {
                char c = value.charAt(done + i);
                seen |= c;
                eight |= (long) c << (i * Byte.SIZE);
            }
            NativeMemory.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, base + at + done, eight);
        }
        for (; done < chars; done++) {
            char c = value.charAt(done);
            seen |= c;
            NativeMemory.ALL.set(ValueLayout.JAVA_BYTE, base + at + done, (byte) c);
        }
        if (seen >= FIRST_BEYOND_ASCII) {
            position = start;
            return false;
        }
        NativeMemory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, base + start, chars);
        return true;
    }

    /** An enum constant by its ordinal. */
    public void writeEnum(Enum<?> value, String name) {
        writeInt(required(value, name).ordinal());
    }

    /** An object of a registered class, by the {@link ObjectCodec}. */
    public void writeObject(Object value, String name) {
        objects.write(required(value, name), this);
    }

    public void writeBytes(byte[] value, String name) {
        writeBytes(required(value, name), 0, value.length);
    }

    /** Writes the same bytes as {@link #writeBytes(byte[], String)} of a copy of that range. */
    public void writeBytes(byte[] value, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, value.length);
        long at = claim((long) Integer.BYTES + length);
        NativeMemory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, base + at, length);
        MemorySegment.copy(value, offset, NativeMemory.ALL, ValueLayout.JAVA_BYTE, base + at + Integer.BYTES, length);
    }

    /** Writes bytes of native memory, without their number. */
    public void write(MemorySegment from, long offset, long length) {
        long at = claim(length);
        MemorySegment.copy(from, offset, buffer, at, length);
    }

    /**
     * Enters a value that may contain itself.
     *
     * @param name the type, for the message
     * @throws PayloadException if the value is nested deeper than {@link #MAX_DEPTH}
     */
    public void enter(String name) {
        if (++depth > MAX_DEPTH) {
            throw new PayloadException(name + " is nested more than " + MAX_DEPTH
                    + " deep; send such structures as a List, or as shared objects by pointer");
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
     * Returns {@code value}.
     *
     * @param name what the value is to the user, for example a parameter's name
     * @throws PayloadException if it is null
     */
    public static <T> T required(T value, String name) {
        if (value == null) {
            throw new PayloadException(
                    "'" + name
                            + "' is null, and null cannot be sent: pass a value, or declare it as Optional if it may be absent");
        }
        return value;
    }

    /**
     * Returns {@code part}.
     *
     * @param role what the part is to the whole, for example {@code an element}
     * @param name what the whole is to the user
     * @throws PayloadException if it is null
     */
    public static <T> T requiredIn(T part, String role, String name) {
        if (part == null) {
            throw new PayloadException(
                    role + " of '" + name
                            + "' is null, and null cannot be sent: leave it out, or declare the type as Optional if it may be absent");
        }
        return part;
    }

    /** Appends everything that another writer has written. */
    public void append(PayloadWriter other) {
        long length = other.position;
        if (length > 0) {
            long at = claim(length);
            MemorySegment.copy(other.buffer, 0, buffer, at, length);
        }
    }

    /**
     * Appends the next bytes of a reader as they are.
     *
     * @throws PayloadException if fewer remain there
     */
    public void append(PayloadReader from, long bytes) {
        long there = from.claim(bytes);
        if (bytes > 0) {
            long at = claim(bytes);
            MemorySegment.copy(from.buffer(), there, buffer, at, bytes);
        }
    }

    /** Appends bytes as they are. */
    void append(byte[] bytes, int length) {
        long at = claim(length);
        MemorySegment.copy(bytes, 0, NativeMemory.ALL, ValueLayout.JAVA_BYTE, base + at, length);
    }

    /**
     * Appends the count of an array and reserves room for its elements; returns where in {@link #buffer} they start.
     */
    long claimArray(int elements, int elementBytes) {
        long at = claim(Integer.BYTES + (long) elements * elementBytes);
        NativeMemory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, base + at, elements);
        return at + Integer.BYTES;
    }

    private long claim(long bytes) {
        long at = position;
        long end = at + bytes;
        if (end > limit) {
            grow(end);
        }
        position = end;
        return at;
    }

    private void grow(long needed) {
        MemorySegment larger = growth.grow(buffer, Math.min(position, limit), needed);
        if (larger.byteSize() < needed) {
            throw new IllegalStateException(
                    "payload growth returned " + larger.byteSize() + " bytes where " + needed + " were needed");
        }
        point(larger);
    }
}
