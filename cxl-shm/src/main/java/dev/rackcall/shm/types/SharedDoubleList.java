package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;

/** A growing list of {@code double} in an arena. Not thread-safe; growing allocates in the scope that the flyweight carries. */
public final class SharedDoubleList extends GrowableList<SharedDoubleArray> {
    public static final SharedType<SharedDoubleList> TYPE = new ListType();

    private SharedDoubleList(Type<SharedDoubleList, SharedDoubleArray> type) {
        super(type);
    }

    /** An empty list in a scope. */
    public static SharedDoubleList create(Scope scope) {
        return TYPE.create(scope);
    }

    /**
     * @throws IndexOutOfBoundsException unless {@code 0 <= index < size()}
     * @throws SharedDataException if the list is damaged
     */
    public double get(int index) {
        return elementsUpTo(index).get(index);
    }

    public void set(int index, double value) {
        elementsUpTo(index).set(index, value);
    }

    public void add(double value) {
        int index = append();
        elements().set(index, value);
    }

    /** Inserts before {@code index}, which may be {@code size()}. */
    public void add(int index, double value) {
        insert(index);
        elements().set(index, value);
    }

    /** A copy on the Java heap. */
    public double[] toArray() {
        double[] copy = new double[size()];
        if (copy.length > 0) {
            elements().copyTo(0, copy, 0, copy.length);
        }
        return copy;
    }

    private static final class ListType extends Type<SharedDoubleList, SharedDoubleArray> {
        private ListType() {
            super(SharedDoubleList.class, "SharedDoubleList", SharedDoubleArray.ARRAY_TYPE);
        }

        @Override
        public SharedDoubleList flyweight() {
            return new SharedDoubleList(this);
        }
    }
}
