package dev.rackcall.shm.types;

import dev.rackcall.shm.Ref;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Base class of all lists: a size, and an array of elements that is replaced by one of twice its length when it is
 * full.
 *
 * <p>Size and array are read from memory each time, so that all flyweights on one list agree. The array is checked when
 * its Ref changes. The size is checked against the array's length, which the flyweight keeps in the Java heap.
 *
 * <pre>
 *   0               8          12         16                  24
 *  +---------------+----------+----------+-------------------+
 *  | object header |   size   |  unused  |  Ref of elements  |
 *  +---------------+----------+----------+-------------------+
 * </pre>
 *
 * @param <A> the array of elements
 */
abstract class GrowableList<A extends SharedSequence> extends SharedObject {
    static final int SIZE = 8;
    static final int ELEMENTS = 16;
    private static final int BYTES = 24;
    private static final int FIRST_CAPACITY = 8;

    private final Type<?, A> type;
    private final A elements;
    private long elementsRef;

    GrowableList(Type<?, A> type) {
        super(type, true);
        this.type = type;
        this.elements = type.elementsType.flyweight();
    }

    /**
     * Number of elements.
     *
     * @throws SharedDataException if it is negative or more than the array of elements holds
     */
    public final int size() {
        MemorySegment memory = memory();
        long ref = memory.get(ObjectLayout.LONG, base() + ELEMENTS);
        if (ref != elementsRef) {
            type.elementsType.move(elements, attachedSpace(), scope(), ref);
            elementsRef = ref;
        }
        int size = memory.get(ObjectLayout.INT, base() + SIZE);
        if (size < 0 || size > room()) {
            throw damaged(this + " says it has " + size + " elements; its array has room for " + room());
        }
        return size;
    }

    public final boolean isEmpty() {
        return size() == 0;
    }

    /** Removes an element; those behind it move forward. */
    public final void removeAt(int index) {
        int size = size();
        Objects.checkIndex(index, size);
        elements.copyElements(index + 1, elements, index, size - index - 1);
        size(size - 1);
    }

    /** Removes all elements; the list keeps its array. */
    public final void clear() {
        size(0);
    }

    @Override
    final void placed() {
        elementsRef = Ref.NULL;
    }

    /** The array, after checking that the element is inside the list. */
    final A elementsUpTo(int index) {
        Objects.checkIndex(index, size());
        return elements;
    }

    /** Adds room for an element at the end and returns its index. The caller stores the element. */
    final int append() {
        int size = size();
        reserve(size);
        size(size + 1);
        return size;
    }

    /** Makes room at {@code index}, where the caller then stores an element. */
    final void insert(int index) {
        int size = size();
        Objects.checkIndex(index, size + 1);
        reserve(size);
        elements.copyElements(index, elements, index + 1, size - index);
        size(size + 1);
    }

    /**
     * The array as {@link #size}, {@link #append} or {@link #insert} last read it. A peer cannot replace it during an
     * operation.
     */
    final A elements() {
        return elements;
    }

    final <J> J arrayOf(PrimitiveArray<J> array) {
        int size = size();
        J copy = array.newArray(size);
        if (size > 0) {
            array.copyTo(0, copy, 0, size);
        }
        return copy;
    }

    private int room() {
        return elementsRef == Ref.NULL ? 0 : elements.length();
    }

    private void size(int size) {
        writable().set(ObjectLayout.INT, base() + SIZE, size);
    }

    private void reserve(int size) {
        int room = room();
        if (size < room) {
            return;
        }
        int wanted = Math.max(FIRST_CAPACITY, (int) Math.min(Integer.MAX_VALUE, room * 2L));
        A larger = type.elementsType.createOf(allocatingScope(type.name()), wanted);
        if (size > 0) {
            elements.copyElements(0, larger, 0, size);
        }
        elementsRef = refOf(larger);
        type.elementsType.move(elements, attachedSpace(), scope(), elementsRef);
        writable().set(ObjectLayout.LONG, base() + ELEMENTS, elementsRef);
    }

    /** The type of a list. */
    abstract static class Type<T extends GrowableList<A>, A extends SharedSequence> extends SharedType<T> {
        private final SharedSequence.Type<A> elementsType;

        Type(Class<? super T> type, String name, SharedSequence.Type<A> elementsType) {
            super(type, name, BYTES, name + "{size:int@8, elements:->" + elementsType.name() + "@16}:24");
            this.elementsType = elementsType;
        }

        @Override
        protected final void references(ReferenceFields fields) {
            fields.reference(ELEMENTS, elementsType);
        }
    }
}
