package dev.rackcall.rpc.runtime;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;

/**
 * Kryo's input, with every length checked against the remaining bytes before memory is allocated. Kryo trusts its
 * input, in which five bytes can request an array of 2 GiB.
 */
final class BoundedInput extends Input {
    BoundedInput() {
        super(new byte[0]);
    }

    /** A count of elements of at least one byte each. */
    int readLength() {
        return require(readVarInt(true), 1);
    }

    private int require(int elements, int elementBytes) {
        if (elements < 0 || (long) elements * elementBytes > limit - position) {
            throw new KryoException("a length says " + elements + " elements of at least " + elementBytes
                    + " bytes, but " + (limit - position) + " bytes remain");
        }
        return elements;
    }

    /** Checks the length of the next text. ASCII text stores none, so its end is searched for. */
    private void requireText() {
        int start = position;
        if (readVarIntFlag()) {
            int lengthAndOne = readVarIntFlag(true);
            require(Math.max(lengthAndOne - 1, lengthAndOne & Integer.MIN_VALUE), 1);
        }
        position = start;
    }

    @Override
    public String readString() {
        requireText();
        return super.readString();
    }

    @Override
    public StringBuilder readStringBuilder() {
        requireText();
        return super.readStringBuilder();
    }

    @Override
    public byte[] readBytes(int length) {
        return super.readBytes(require(length, 1));
    }

    @Override
    public boolean[] readBooleans(int length) {
        return super.readBooleans(require(length, 1));
    }

    @Override
    public short[] readShorts(int length) {
        return super.readShorts(require(length, Short.BYTES));
    }

    @Override
    public char[] readChars(int length) {
        return super.readChars(require(length, Character.BYTES));
    }

    @Override
    public int[] readInts(int length) {
        return super.readInts(require(length, Integer.BYTES));
    }

    @Override
    public int[] readInts(int length, boolean optimizePositive) {
        return super.readInts(require(length, 1), optimizePositive);
    }

    @Override
    public long[] readLongs(int length) {
        return super.readLongs(require(length, Long.BYTES));
    }

    @Override
    public long[] readLongs(int length, boolean optimizePositive) {
        return super.readLongs(require(length, 1), optimizePositive);
    }

    @Override
    public float[] readFloats(int length) {
        return super.readFloats(require(length, Float.BYTES));
    }

    @Override
    public double[] readDoubles(int length) {
        return super.readDoubles(require(length, Double.BYTES));
    }
}
