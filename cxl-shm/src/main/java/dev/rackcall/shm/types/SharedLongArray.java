package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** {@code long} values in an arena, fixed in number; zero at first. Not thread-safe. */
public final class SharedLongArray extends SharedSequence {
    static final Type<SharedLongArray> ARRAY_TYPE = new ArrayType();
    public static final SharedType<SharedLongArray> TYPE = ARRAY_TYPE;

    private SharedLongArray(Type<SharedLongArray> type) {
        super(type);
    }

    /** {@code length} zeros in a scope. */
    public static SharedLongArray create(Scope scope, int length) {
        return ARRAY_TYPE.createOf(scope, length);
    }

    /** A copy of those values in a scope. */
    public static SharedLongArray copyOf(Scope scope, long... values) {
        SharedLongArray created = create(scope, values.length);
        created.copyFrom(values, 0, 0, values.length);
        return created;
    }

    public long get(int index) {
        return memory().get(ObjectLayout.LONG, at(index));
    }

    public void set(int index, long value) {
        writable().set(ObjectLayout.LONG, at(index), value);
    }

    /** Copies {@code count} values from a Java array to {@code index} on. */
    public void copyFrom(long[] source, int sourceIndex, int index, int count) {
        Objects.checkFromIndexSize(index, count, length());
        MemorySegment.copy(
                source, sourceIndex, writable(), ObjectLayout.LONG, start() + (long) index * Long.BYTES, count);
    }

    /** Copies {@code count} values from {@code index} on to a Java array. */
    public void copyTo(int index, long[] target, int targetIndex, int count) {
        Objects.checkFromIndexSize(index, count, length());
        MemorySegment.copy(
                memory(), ObjectLayout.LONG, start() + (long) index * Long.BYTES, target, targetIndex, count);
    }

    /** A copy on the Java heap. */
    public long[] toArray() {
        long[] copy = new long[length()];
        copyTo(0, copy, 0, copy.length);
        return copy;
    }

    private static final class ArrayType extends Type<SharedLongArray> {
        private ArrayType() {
            super(SharedLongArray.class, "SharedLongArray", Long.BYTES);
        }

        @Override
        public SharedLongArray flyweight() {
            return new SharedLongArray(this);
        }
    }
}
