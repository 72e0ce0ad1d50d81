package dev.rackcall.shm.codec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Encodes arrays of primitives other than bytes: 4 bytes for the number of elements, then the elements, copied in one go. */
public final class PrimitiveArrays {
    private PrimitiveArrays() {}

    public static void writeBooleans(PayloadWriter out, boolean[] value, String name) {
        out.writeCount(PayloadWriter.required(value, name).length);
        for (boolean element : value) {
            out.writeBoolean(element);
        }
    }

    public static boolean[] readBooleans(PayloadReader in) {
        boolean[] value = new boolean[in.readCount(1)];
        for (int i = 0; i < value.length; i++) {
            value[i] = in.readBoolean();
        }
        return value;
    }

    public static void writeShorts(PayloadWriter out, short[] value, String name) {
        long at = out.claimArray(PayloadWriter.required(value, name).length, Short.BYTES);
        MemorySegment.copy(value, 0, out.buffer(), ValueLayout.JAVA_SHORT_UNALIGNED, at, value.length);
    }

    public static short[] readShorts(PayloadReader in) {
        short[] value = new short[in.readCount(Short.BYTES)];
        long at = in.claim((long) value.length * Short.BYTES);
        MemorySegment.copy(in.buffer(), ValueLayout.JAVA_SHORT_UNALIGNED, at, value, 0, value.length);
        return value;
    }

    public static void writeChars(PayloadWriter out, char[] value, String name) {
        long at = out.claimArray(PayloadWriter.required(value, name).length, Character.BYTES);
        MemorySegment.copy(value, 0, out.buffer(), ValueLayout.JAVA_CHAR_UNALIGNED, at, value.length);
    }

    public static char[] readChars(PayloadReader in) {
        char[] value = new char[in.readCount(Character.BYTES)];
        long at = in.claim((long) value.length * Character.BYTES);
        MemorySegment.copy(in.buffer(), ValueLayout.JAVA_CHAR_UNALIGNED, at, value, 0, value.length);
        return value;
    }

    public static void writeInts(PayloadWriter out, int[] value, String name) {
        long at = out.claimArray(PayloadWriter.required(value, name).length, Integer.BYTES);
        MemorySegment.copy(value, 0, out.buffer(), ValueLayout.JAVA_INT_UNALIGNED, at, value.length);
    }

    public static int[] readInts(PayloadReader in) {
        int[] value = new int[in.readCount(Integer.BYTES)];
        long at = in.claim((long) value.length * Integer.BYTES);
        MemorySegment.copy(in.buffer(), ValueLayout.JAVA_INT_UNALIGNED, at, value, 0, value.length);
        return value;
    }

    public static void writeLongs(PayloadWriter out, long[] value, String name) {
        long at = out.claimArray(PayloadWriter.required(value, name).length, Long.BYTES);
        MemorySegment.copy(value, 0, out.buffer(), ValueLayout.JAVA_LONG_UNALIGNED, at, value.length);
    }

    public static long[] readLongs(PayloadReader in) {
        long[] value = new long[in.readCount(Long.BYTES)];
        long at = in.claim((long) value.length * Long.BYTES);
        MemorySegment.copy(in.buffer(), ValueLayout.JAVA_LONG_UNALIGNED, at, value, 0, value.length);
        return value;
    }

    public static void writeFloats(PayloadWriter out, float[] value, String name) {
        long at = out.claimArray(PayloadWriter.required(value, name).length, Float.BYTES);
        MemorySegment.copy(value, 0, out.buffer(), ValueLayout.JAVA_FLOAT_UNALIGNED, at, value.length);
    }

    public static float[] readFloats(PayloadReader in) {
        float[] value = new float[in.readCount(Float.BYTES)];
        long at = in.claim((long) value.length * Float.BYTES);
        MemorySegment.copy(in.buffer(), ValueLayout.JAVA_FLOAT_UNALIGNED, at, value, 0, value.length);
        return value;
    }

    public static void writeDoubles(PayloadWriter out, double[] value, String name) {
        long at = out.claimArray(PayloadWriter.required(value, name).length, Double.BYTES);
        MemorySegment.copy(value, 0, out.buffer(), ValueLayout.JAVA_DOUBLE_UNALIGNED, at, value.length);
    }

    public static double[] readDoubles(PayloadReader in) {
        double[] value = new double[in.readCount(Double.BYTES)];
        long at = in.claim((long) value.length * Double.BYTES);
        MemorySegment.copy(in.buffer(), ValueLayout.JAVA_DOUBLE_UNALIGNED, at, value, 0, value.length);
        return value;
    }
}
