package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;

/** A fixed number of {@code float} values in an arena, zero at first. Not thread-safe. */
public final class SharedFloatArray extends PrimitiveArray<float[]> {
    static final Type<SharedFloatArray, float[]> ARRAY_TYPE = new Type<>(SharedFloatArray.class, ObjectLayout.FLOAT) {
        @Override
        public SharedFloatArray flyweight() {
            return new SharedFloatArray();
        }
    };
    public static final SharedType<SharedFloatArray> TYPE = ARRAY_TYPE;

    private SharedFloatArray() {
        super(ARRAY_TYPE);
    }

    /** Creates {@code length} zeros. */
    public static SharedFloatArray create(Scope scope, int length) {
        return ARRAY_TYPE.createOf(scope, length);
    }

    /** Copies the values into a scope. */
    public static SharedFloatArray copyOf(Scope scope, float... values) {
        return ARRAY_TYPE.copyOf(scope, values, values.length);
    }

    public float get(int index) {
        return memory().get(ObjectLayout.FLOAT, at(index));
    }

    public void set(int index, float value) {
        writable().set(ObjectLayout.FLOAT, at(index), value);
    }
}
