package dev.rackcall.shm.types;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * A growing list of references to shared objects in an arena. It grows in the flyweight's scope. Not thread-safe.
 *
 * <p>To walk it without allocating, reuse one flyweight:
 *
 * <pre>{@code
 * Document document = documentType.flyweight();
 * for (int i = 0, n = list.size(); i < n; i++) {
 *     list.get(i, document);
 *     ...
 * } }</pre>
 *
 * @param <T> a shared type or container
 */
public final class SharedList<T> extends GrowableList<SharedArray<T>> implements Iterable<T> {
    private final SharedType<T> elementType;

    private SharedList(Type<SharedList<T>, SharedArray<T>> type, SharedType<T> elementType) {
        super(type);
        this.elementType = elementType;
    }

    /** The type of lists of {@code elementType}. Call it during set-up and keep the result. */
    @SuppressWarnings("unchecked") // only this method stores it
    public static <T> SharedType<SharedList<T>> typeOf(SharedType<T> elementType) {
        SharedType<SharedList<T>> known = (SharedType<SharedList<T>>) elementType.listType;
        if (known == null) {
            known = newType(elementType);
            elementType.listType = known;
        }
        return known;
    }

    private static <T> SharedType<SharedList<T>> newType(SharedType<T> elementType) {
        String name = "SharedList<" + elementType.name() + ">";
        return new Type<SharedList<T>, SharedArray<T>>(SharedList.class, name, SharedArray.arrayTypeOf(elementType)) {
            @Override
            public SharedList<T> flyweight() {
                return new SharedList<>(this, elementType);
            }
        };
    }

    /** As {@link #create(Scope, SharedType)}, for a {@link Shared} interface. */
    public static <T> SharedList<T> create(Scope scope, Class<T> elements) {
        return create(scope, SharedType.of(elements));
    }

    /** Creates an empty list. */
    public static <T> SharedList<T> create(Scope scope, SharedType<T> elementType) {
        return typeOf(elementType).create(scope);
    }

    /**
     * A new flyweight on an element.
     *
     * @throws IndexOutOfBoundsException unless {@code 0 <= index < size()}
     * @throws RefException if the element cannot be followed
     * @throws SharedDataException if the list is damaged
     */
    public T get(int index) {
        return elementsUpTo(index).get(index);
    }

    /**
     * Moves a flyweight to an element, allocating nothing.
     *
     * @throws IndexOutOfBoundsException unless {@code 0 <= index < size()}
     * @throws RefException if the element cannot be followed
     * @throws SharedDataException if the list is damaged
     */
    public void get(int index, T into) {
        if (!elementsUpTo(index).get(index, into)) {
            throw new RefException("element " + index + " of " + this + " is null");
        }
    }

    public Ref<T> ref(int index) {
        return elementsUpTo(index).ref(index);
    }

    public void set(int index, T value) {
        elementsUpTo(index).bits(index, bits(value));
    }

    public void add(T value) {
        long ref = bits(value);
        int index = append();
        elements().bits(index, ref);
    }

    /** Inserts before {@code index}, which may be {@code size()}. */
    public void add(int index, T value) {
        long ref = bits(value);
        insert(index);
        elements().bits(index, ref);
    }

    private long bits(T value) {
        return refOf(elementType.checked(value, "element"));
    }

    /** Returns a new flyweight for each element, which the caller may keep. */
    @Override
    public Iterator<T> iterator() {
        return new Iterator<>() {
            private int next;

            @Override
            public boolean hasNext() {
                return next < size();
            }

            @Override
            public T next() {
                if (!hasNext()) {
                    throw new NoSuchElementException("the list has " + size() + " elements");
                }
                return get(next++);
            }
        };
    }
}
