package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;

/** A fixed number of {@code int} values in an arena, zero at first. Not thread-safe. */
public final class SharedIntArray extends PrimitiveArray<int[]> {
    static final Type<SharedIntArray, int[]> ARRAY_TYPE = new Type<>(SharedIntArray.class, ObjectLayout.INT) {
        @Override
        public SharedIntArray flyweight() {
            return new SharedIntArray();
        }
    };
    public static final SharedType<SharedIntArray> TYPE = ARRAY_TYPE;

    private SharedIntArray() {
        super(ARRAY_TYPE);
    }

    /** Creates {@code length} zeros. */
    public static SharedIntArray create(Scope scope, int length) {
        return ARRAY_TYPE.createOf(scope, length);
    }

    /** Copies the values into a scope. */
    public static SharedIntArray copyOf(Scope scope, int... values) {
        return ARRAY_TYPE.copyOf(scope, values, values.length);
    }

    public int get(int index) {
        return memory().get(ObjectLayout.INT, at(index));
    }

    public void set(int index, int value) {
        writable().set(ObjectLayout.INT, at(index), value);
    }
}
