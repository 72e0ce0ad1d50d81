package dev.rackcall.shm.types;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;

/**
 * A fixed number of references to shared objects in an arena, null at first. Not thread-safe.
 *
 * @param <T> a shared type or container
 */
public final class SharedArray<T> extends SharedSequence {
    private final SharedType<T> elementType;

    private SharedArray(ArrayType<T> type) {
        super(type);
        this.elementType = type.elementType;
    }

    /** The type of arrays of {@code elementType}. Call it during set-up and keep the result. */
    public static <T> SharedType<SharedArray<T>> typeOf(SharedType<T> elementType) {
        return arrayTypeOf(elementType);
    }

    @SuppressWarnings("unchecked") // only this method stores it
    static <T> Type<SharedArray<T>> arrayTypeOf(SharedType<T> elementType) {
        ArrayType<T> known = (ArrayType<T>) elementType.arrayType;
        if (known == null) {
            known = new ArrayType<>(elementType);
            elementType.arrayType = known;
        }
        return known;
    }

    /** Creates an array of {@code length} null references. */
    public static <T> SharedArray<T> create(Scope scope, SharedType<T> elementType, int length) {
        return arrayTypeOf(elementType).createOf(scope, length);
    }

    /**
     * As {@link #create(Scope, SharedType, int)}, but moves {@code into} to the array, allocating nothing in the Java
     * heap.
     */
    public static <T> void create(Scope scope, int length, SharedArray<T> into) {
        arrayTypeOf(into.elementType).createOf(scope, into, length);
    }

    static <T> SharedType<T> elementType(SharedType<SharedArray<T>> type) {
        return ((ArrayType<T>) type).elementType;
    }

    /**
     * A new flyweight on an element.
     *
     * @throws RefException if the element is null or cannot be followed
     */
    public T get(int index) {
        long ref = bits(index);
        if (ref == Ref.NULL) {
            throw causeOf(new RefException("element " + index + " of " + this + " is null; test with isNull(index)"));
        }
        return attachTo(elementType, ref);
    }

    /**
     * Moves a flyweight to an element, allocating nothing.
     *
     * @return false if the element is null; the flyweight stays where it was
     * @throws RefException if the element cannot be followed
     */
    public boolean get(int index, T into) {
        return moveTo(elementType, into, bits(index));
    }

    public Ref<T> ref(int index) {
        return new Ref<>(bits(index));
    }

    public boolean isNull(int index) {
        return bits(index) == Ref.NULL;
    }

    public void set(int index, T value) {
        bits(index, refOf(elementType.checked(value, "element")));
    }

    public void setNull(int index) {
        bits(index, Ref.NULL);
    }

    long bits(int index) {
        return memory().get(ObjectLayout.LONG, at(index));
    }

    void bits(int index, long ref) {
        writable().set(ObjectLayout.LONG, at(index), ref);
    }

    private static final class ArrayType<T> extends Type<SharedArray<T>> {
        private final SharedType<T> elementType;

        private ArrayType(SharedType<T> elementType) {
            super(SharedArray.class, "SharedArray<" + elementType.name() + ">", Long.BYTES);
            this.elementType = elementType;
        }

        @Override
        public SharedArray<T> flyweight() {
            return new SharedArray<>(this);
        }

        @Override
        void forward(GraphCopy copy, MemorySegment memory, long base, int objectBytes) {
            for (long at = ObjectLayout.HEADER_BYTES; at < objectBytes; at += Long.BYTES) {
                copy.forward(memory, base + at, elementType);
            }
        }
    }
}
