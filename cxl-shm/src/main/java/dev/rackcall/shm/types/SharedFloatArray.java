package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** {@code float} values in an arena, fixed in number; zero at first. Not thread-safe. */
public final class SharedFloatArray extends SharedSequence {
    static final Type<SharedFloatArray> ARRAY_TYPE = new ArrayType();
    public static final SharedType<SharedFloatArray> TYPE = ARRAY_TYPE;

    private SharedFloatArray(Type<SharedFloatArray> type) {
        super(type);
    }

    /** {@code length} zeros in a scope. */
    public static SharedFloatArray create(Scope scope, int length) {
        return ARRAY_TYPE.createOf(scope, length);
    }

    /** A copy of those values in a scope. */
    public static SharedFloatArray copyOf(Scope scope, float... values) {
        SharedFloatArray created = create(scope, values.length);
        created.copyFrom(values, 0, 0, values.length);
        return created;
    }

    public float get(int index) {
        return memory().get(ObjectLayout.FLOAT, at(index));
    }

    public void set(int index, float value) {
        writable().set(ObjectLayout.FLOAT, at(index), value);
    }

    /** Copies {@code count} values from a Java array to {@code index} on. */
    public void copyFrom(float[] source, int sourceIndex, int index, int count) {
        Objects.checkFromIndexSize(index, count, length());
        MemorySegment.copy(
                source, sourceIndex, writable(), ObjectLayout.FLOAT, start() + (long) index * Float.BYTES, count);
    }

    /** Copies {@code count} values from {@code index} on to a Java array. */
    public void copyTo(int index, float[] target, int targetIndex, int count) {
        Objects.checkFromIndexSize(index, count, length());
        MemorySegment.copy(
                memory(), ObjectLayout.FLOAT, start() + (long) index * Float.BYTES, target, targetIndex, count);
    }

    /** A copy on the Java heap. */
    public float[] toArray() {
        float[] copy = new float[length()];
        copyTo(0, copy, 0, copy.length);
        return copy;
    }

    private static final class ArrayType extends Type<SharedFloatArray> {
        private ArrayType() {
            super(SharedFloatArray.class, "SharedFloatArray", Float.BYTES);
        }

        @Override
        public SharedFloatArray flyweight() {
            return new SharedFloatArray(this);
        }
    }
}
