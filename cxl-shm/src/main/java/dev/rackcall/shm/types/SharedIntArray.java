package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** {@code int} values in an arena, fixed in number; zero at first. Not thread-safe. */
public final class SharedIntArray extends SharedSequence {
    static final Type<SharedIntArray> ARRAY_TYPE = new ArrayType();
    public static final SharedType<SharedIntArray> TYPE = ARRAY_TYPE;

    private SharedIntArray(Type<SharedIntArray> type) {
        super(type);
    }

    /** {@code length} zeros in a scope. */
    public static SharedIntArray create(Scope scope, int length) {
        return ARRAY_TYPE.createOf(scope, length);
    }

    /** A copy of those values in a scope. */
    public static SharedIntArray copyOf(Scope scope, int... values) {
        SharedIntArray created = create(scope, values.length);
        created.copyFrom(values, 0, 0, values.length);
        return created;
    }

    public int get(int index) {
        return memory().get(ObjectLayout.INT, at(index));
    }

    public void set(int index, int value) {
        writable().set(ObjectLayout.INT, at(index), value);
    }

    /** Copies {@code count} values from a Java array to {@code index} on. */
    public void copyFrom(int[] source, int sourceIndex, int index, int count) {
        Objects.checkFromIndexSize(index, count, length());
        MemorySegment.copy(
                source, sourceIndex, writable(), ObjectLayout.INT, start() + (long) index * Integer.BYTES, count);
    }

    /** Copies {@code count} values from {@code index} on to a Java array. */
    public void copyTo(int index, int[] target, int targetIndex, int count) {
        Objects.checkFromIndexSize(index, count, length());
        MemorySegment.copy(
                memory(), ObjectLayout.INT, start() + (long) index * Integer.BYTES, target, targetIndex, count);
    }

    /** A copy on the Java heap. */
    public int[] toArray() {
        int[] copy = new int[length()];
        copyTo(0, copy, 0, copy.length);
        return copy;
    }

    private static final class ArrayType extends Type<SharedIntArray> {
        private ArrayType() {
            super(SharedIntArray.class, "SharedIntArray", Integer.BYTES);
        }

        @Override
        public SharedIntArray flyweight() {
            return new SharedIntArray(this);
        }
    }
}
