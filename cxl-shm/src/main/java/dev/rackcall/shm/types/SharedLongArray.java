package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;

/** A fixed number of {@code long} values in an arena, zero at first. Not thread-safe. */
public final class SharedLongArray extends PrimitiveArray<long[]> {
    static final Type<SharedLongArray, long[]> ARRAY_TYPE = new Type<>(SharedLongArray.class, ObjectLayout.LONG) {
        @Override
        public SharedLongArray flyweight() {
            return new SharedLongArray();
        }
    };
    public static final SharedType<SharedLongArray> TYPE = ARRAY_TYPE;

    private SharedLongArray() {
        super(ARRAY_TYPE);
    }

    /** Creates {@code length} zeros. */
    public static SharedLongArray create(Scope scope, int length) {
        return ARRAY_TYPE.createOf(scope, length);
    }

    /** Copies the values into a scope. */
    public static SharedLongArray copyOf(Scope scope, long... values) {
        return ARRAY_TYPE.copyOf(scope, values, values.length);
    }

    public long get(int index) {
        return memory().get(ObjectLayout.LONG, at(index));
    }

    public void set(int index, long value) {
        writable().set(ObjectLayout.LONG, at(index), value);
    }
}
