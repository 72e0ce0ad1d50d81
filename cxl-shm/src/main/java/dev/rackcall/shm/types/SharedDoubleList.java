package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;

/** A growing list of {@code double} in an arena. It grows in the flyweight's scope. Not thread-safe. */
public final class SharedDoubleList extends GrowableList<SharedDoubleArray> {
    private static final Type<SharedDoubleList, SharedDoubleArray> LIST_TYPE =
            new Type<>(SharedDoubleList.class, "SharedDoubleList", SharedDoubleArray.ARRAY_TYPE) {
                @Override
                public SharedDoubleList flyweight() {
                    return new SharedDoubleList();
                }
            };
    public static final SharedType<SharedDoubleList> TYPE = LIST_TYPE;

    private SharedDoubleList() {
        super(LIST_TYPE);
    }

    /** Creates an empty list. */
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
        return arrayOf(elements());
    }
}
