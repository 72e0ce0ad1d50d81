package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** {@code double} values in an arena, fixed in number; zero at first. Not thread-safe. */
public final class SharedDoubleArray extends SharedSequence {
    static final Type<SharedDoubleArray> ARRAY_TYPE = new ArrayType();
    public static final SharedType<SharedDoubleArray> TYPE = ARRAY_TYPE;

    private SharedDoubleArray(Type<SharedDoubleArray> type) {
        super(type);
    }

    /** {@code length} zeros in a scope. */
    public static SharedDoubleArray create(Scope scope, int length) {
        return ARRAY_TYPE.createOf(scope, length);
    }

    /** A copy of those values in a scope. */
    public static SharedDoubleArray copyOf(Scope scope, double... values) {
        SharedDoubleArray created = create(scope, values.length);
        created.copyFrom(values, 0, 0, values.length);
        return created;
    }

    public double get(int index) {
        return memory().get(ObjectLayout.DOUBLE, at(index));
    }

    public void set(int index, double value) {
        writable().set(ObjectLayout.DOUBLE, at(index), value);
    }

    /** Copies {@code count} values from a Java array to {@code index} on. */
    public void copyFrom(double[] source, int sourceIndex, int index, int count) {
        Objects.checkFromIndexSize(index, count, length());
        MemorySegment.copy(
                source, sourceIndex, writable(), ObjectLayout.DOUBLE, start() + (long) index * Double.BYTES, count);
    }

    /** Copies {@code count} values from {@code index} on to a Java array. */
    public void copyTo(int index, double[] target, int targetIndex, int count) {
        Objects.checkFromIndexSize(index, count, length());
        MemorySegment.copy(
                memory(), ObjectLayout.DOUBLE, start() + (long) index * Double.BYTES, target, targetIndex, count);
    }

    /** A copy on the Java heap. */
    public double[] toArray() {
        double[] copy = new double[length()];
        copyTo(0, copy, 0, copy.length);
        return copy;
    }

    private static final class ArrayType extends Type<SharedDoubleArray> {
        private ArrayType() {
            super(SharedDoubleArray.class, "SharedDoubleArray", Double.BYTES);
        }

        @Override
        public SharedDoubleArray flyweight() {
            return new SharedDoubleArray(this);
        }
    }
}
