package dev.rackcall.shm.codec;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Encodes arrays of primitives other than bytes: 4 bytes for the number of elements, then the elements in one bulk
 * copy.
 */
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
        write(out, PayloadWriter.required(value, name), value.length, ValueLayout.JAVA_SHORT_UNALIGNED);
    }

    public static short[] readShorts(PayloadReader in) {
        int length = in.readCount(Short.BYTES);
        return read(in, new short[length], length, ValueLayout.JAVA_SHORT_UNALIGNED);
    }

    public static void writeChars(PayloadWriter out, char[] value, String name) {
        write(out, PayloadWriter.required(value, name), value.length, ValueLayout.JAVA_CHAR_UNALIGNED);
    }

    public static char[] readChars(PayloadReader in) {
        int length = in.readCount(Character.BYTES);
        return read(in, new char[length], length, ValueLayout.JAVA_CHAR_UNALIGNED);
    }

    public static void writeInts(PayloadWriter out, int[] value, String name) {
        write(out, PayloadWriter.required(value, name), value.length, ValueLayout.JAVA_INT_UNALIGNED);
    }

    public static int[] readInts(PayloadReader in) {
        int length = in.readCount(Integer.BYTES);
        return read(in, new int[length], length, ValueLayout.JAVA_INT_UNALIGNED);
    }

    public static void writeLongs(PayloadWriter out, long[] value, String name) {
        write(out, PayloadWriter.required(value, name), value.length, ValueLayout.JAVA_LONG_UNALIGNED);
    }

    public static long[] readLongs(PayloadReader in) {
        int length = in.readCount(Long.BYTES);
        return read(in, new long[length], length, ValueLayout.JAVA_LONG_UNALIGNED);
    }

    public static void writeFloats(PayloadWriter out, float[] value, String name) {
        write(out, PayloadWriter.required(value, name), value.length, ValueLayout.JAVA_FLOAT_UNALIGNED);
    }

    public static float[] readFloats(PayloadReader in) {
        int length = in.readCount(Float.BYTES);
        return read(in, new float[length], length, ValueLayout.JAVA_FLOAT_UNALIGNED);
    }

    public static void writeDoubles(PayloadWriter out, double[] value, String name) {
        write(out, PayloadWriter.required(value, name), value.length, ValueLayout.JAVA_DOUBLE_UNALIGNED);
    }

    public static double[] readDoubles(PayloadReader in) {
        int length = in.readCount(Double.BYTES);
        return read(in, new double[length], length, ValueLayout.JAVA_DOUBLE_UNALIGNED);
    }

    private static void write(PayloadWriter out, Object array, int length, ValueLayout element) {
        long at = out.claimArray(length, (int) element.byteSize());
        MemorySegment.copy(array, 0, out.buffer(), element, at, length);
    }

    private static <A> A read(PayloadReader in, A array, int length, ValueLayout element) {
        long at = in.claim(length * element.byteSize());
        MemorySegment.copy(in.buffer(), element, at, array, 0, length);
        return array;
    }
}
