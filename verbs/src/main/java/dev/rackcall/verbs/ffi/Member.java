package dev.rackcall.verbs.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A member of a C struct: its offset, with a type for each value size. A constant member is as fast as a constant
 * offset.
 */
public final class Member {
    private Member() {}

    /** A member of 8 bits. */
    public record OfByte(long offset) {
        public byte get(MemorySegment struct) {
            return struct.get(ValueLayout.JAVA_BYTE, offset);
        }

        public void set(MemorySegment struct, int value) {
            struct.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
        }
    }

    /** A member of 16 bits. */
    public record OfShort(long offset) {
        public short get(MemorySegment struct) {
            return struct.get(ValueLayout.JAVA_SHORT, offset);
        }

        public void set(MemorySegment struct, int value) {
            struct.set(ValueLayout.JAVA_SHORT, offset, (short) value);
        }
    }

    /** A member of 32 bits. */
    public record OfInt(long offset) {
        public int get(MemorySegment struct) {
            return struct.get(ValueLayout.JAVA_INT, offset);
        }

        public void set(MemorySegment struct, int value) {
            struct.set(ValueLayout.JAVA_INT, offset, value);
        }
    }

    /** A member of 64 bits, or a pointer. */
    public record OfLong(long offset) {
        public long get(MemorySegment struct) {
            return struct.get(ValueLayout.JAVA_LONG, offset);
        }

        public void set(MemorySegment struct, long value) {
            struct.set(ValueLayout.JAVA_LONG, offset, value);
        }
    }
}
