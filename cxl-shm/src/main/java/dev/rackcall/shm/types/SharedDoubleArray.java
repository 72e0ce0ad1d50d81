package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;

/** A fixed number of {@code double} values in an arena, zero at first. Not thread-safe. */
public final class SharedDoubleArray extends PrimitiveArray<double[]> {
    static final Type<SharedDoubleArray, double[]> ARRAY_TYPE =
            new Type<>(SharedDoubleArray.class, ObjectLayout.DOUBLE) {
                @Override
                public SharedDoubleArray flyweight() {
                    return new SharedDoubleArray();
                }
            };
    public static final SharedType<SharedDoubleArray> TYPE = ARRAY_TYPE;

    private SharedDoubleArray() {
        super(ARRAY_TYPE);
    }

    /** Creates {@code length} zeros. */
    public static SharedDoubleArray create(Scope scope, int length) {
        return ARRAY_TYPE.createOf(scope, length);
    }

    /** Copies the values into a scope. */
    public static SharedDoubleArray copyOf(Scope scope, double... values) {
        return ARRAY_TYPE.copyOf(scope, values, values.length);
    }

    public double get(int index) {
        return memory().get(ObjectLayout.DOUBLE, at(index));
    }

    public void set(int index, double value) {
        writable().set(ObjectLayout.DOUBLE, at(index), value);
    }
}
