package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;

/** A growing list of {@code long} in an arena. It grows in the flyweight's scope. Not thread-safe. */
public final class SharedLongList extends GrowableList<SharedLongArray> {
    private static final Type<SharedLongList, SharedLongArray> LIST_TYPE =
            new Type<>(SharedLongList.class, "SharedLongList", SharedLongArray.ARRAY_TYPE) {
                @Override
                public SharedLongList flyweight() {
                    return new SharedLongList();
                }
            };
    public static final SharedType<SharedLongList> TYPE = LIST_TYPE;

    private SharedLongList() {
        super(LIST_TYPE);
    }

    /** Creates an empty list. */
    public static SharedLongList create(Scope scope) {
        return TYPE.create(scope);
    }

    /**
     * @throws IndexOutOfBoundsException unless {@code 0 <= index < size()}
     * @throws SharedDataException if the list is damaged
     */
    public long get(int index) {
        return elementsUpTo(index).get(index);
    }

    public void set(int index, long value) {
        elementsUpTo(index).set(index, value);
    }

    public void add(long value) {
        int index = append();
        elements().set(index, value);
    }

    /** Inserts before {@code index}, which may be {@code size()}. */
    public void add(int index, long value) {
        insert(index);
        elements().set(index, value);
    }

    /** A copy on the Java heap. */
    public long[] toArray() {
        return arrayOf(elements());
    }
}
