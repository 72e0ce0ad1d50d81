package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;

/** A growing list of {@code int} in an arena. It grows in the flyweight's scope. Not thread-safe. */
public final class SharedIntList extends GrowableList<SharedIntArray> {
    private static final Type<SharedIntList, SharedIntArray> LIST_TYPE =
            new Type<>(SharedIntList.class, "SharedIntList", SharedIntArray.ARRAY_TYPE) {
                @Override
                public SharedIntList flyweight() {
                    return new SharedIntList();
                }
            };
    public static final SharedType<SharedIntList> TYPE = LIST_TYPE;

    private SharedIntList() {
        super(LIST_TYPE);
    }

    /** Creates an empty list. */
    public static SharedIntList create(Scope scope) {
        return TYPE.create(scope);
    }

    /**
     * @throws IndexOutOfBoundsException unless {@code 0 <= index < size()}
     * @throws SharedDataException if the list is damaged
     */
    public int get(int index) {
        return elementsUpTo(index).get(index);
    }

    public void set(int index, int value) {
        elementsUpTo(index).set(index, value);
    }

    public void add(int value) {
        int index = append();
        elements().set(index, value);
    }

    /** Inserts before {@code index}, which may be {@code size()}. */
    public void add(int index, int value) {
        insert(index);
        elements().set(index, value);
    }

    /** A copy on the Java heap. */
    public int[] toArray() {
        return arrayOf(elements());
    }
}
