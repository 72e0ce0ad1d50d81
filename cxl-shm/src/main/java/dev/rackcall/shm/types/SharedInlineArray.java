package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;

/**
 * A fixed number of records that lie one after another, without headers and without references to them. It takes
 * less memory than a {@link SharedArray} of as many objects, is allocated at once, and no Ref is followed to reach an
 * element. All fields are zero at first.
 *
 * <p>Elements are parts of the array: they are changed in place, cannot be absent, and have no Ref of their own. Not
 * thread-safe.
 *
 * @param <T> a {@link Shared} interface with fields, none of them {@link Since} a later version: an element has no
 *     header that tells its version
 */
public final class SharedInlineArray<T> extends SharedSequence {
    private final SharedType<T> elementType;
    private final int stride;

    private SharedInlineArray(InlineType<T> type) {
        super(type);
        this.elementType = type.elementType;
        this.stride = type.stride;
    }

    /**
     * The type of arrays of {@code elementType}. Call it during set-up and keep the result.
     *
     * @throws IllegalArgumentException if {@code elementType} is a container, has no fields, or has {@link Since}
     *     fields
     */
    public static <T> SharedType<SharedInlineArray<T>> typeOf(SharedType<T> elementType) {
        return inlineTypeOf(elementType);
    }

    @SuppressWarnings("unchecked") // only this method stores it
    private static <T> InlineType<T> inlineTypeOf(SharedType<T> elementType) {
        InlineType<T> known = (InlineType<T>) elementType.inlineArrayType;
        if (known == null) {
            known = new InlineType<>(elementType);
            elementType.inlineArrayType = known;
        }
        return known;
    }

    /**
     * Creates an array.
     *
     * @throws IllegalArgumentException as {@link #typeOf}
     */
    public static <T> SharedInlineArray<T> create(Scope scope, SharedType<T> elementType, int length) {
        return inlineTypeOf(elementType).createOf(scope, length);
    }

    /**
     * As {@link #create(Scope, SharedType, int)}, but moves {@code into} to the array, allocating nothing in the Java
     * heap.
     */
    public static <T> void create(Scope scope, int length, SharedInlineArray<T> into) {
        inlineTypeOf(into.elementType).createOf(scope, into, length);
    }

    /** A new flyweight on an element. */
    public T get(int index) {
        T element = elementType.flyweight();
        moveTo(index, of(element));
        return element;
    }

    /** Moves a flyweight to an element, allocating nothing. */
    public void get(int index, T into) {
        moveTo(index, elementType.checked(into, "flyweight"));
    }

    private void moveTo(int index, SharedObject element) {
        // If the flyweight is on no object, this throws the exact reason; the check of the length would only report a
        // missing element.
        attachedSpace();
        element.embed(this, at(index) - base(), ObjectLayout.HEADER_BYTES + stride);
    }

    private static final class InlineType<T> extends Type<SharedInlineArray<T>> {
        private final SharedType<T> elementType;
        private final int stride;

        private InlineType(SharedType<T> elementType) {
            super(
                    SharedInlineArray.class,
                    "SharedInlineArray<" + elementType.name() + ">",
                    strideOf(elementType),
                    // The elements have no header, so the array's type stands for theirs.
                    "type " + Integer.toHexString(elementType.typeId()) + " of ");
            this.elementType = elementType;
            this.stride = strideOf(elementType);
        }

        private static int strideOf(SharedType<?> elementType) {
            int fieldBytes = elementType.bytes() - ObjectLayout.HEADER_BYTES;
            if (!elementType.isRecord() || elementType.hasVersions() || fieldBytes == 0) {
                throw new IllegalArgumentException("a SharedInlineArray cannot hold a " + elementType.name()
                        + ": its elements are records with fields, none of them @Since; use a SharedArray");
            }
            return fieldBytes;
        }

        @Override
        public SharedInlineArray<T> flyweight() {
            return new SharedInlineArray<>(this);
        }

        @Override
        void forward(GraphCopy copy, MemorySegment memory, long base, int objectBytes) {
            ReferenceFields fields = elementType.references();
            int count = fields.count() == 0 ? 0 : (objectBytes - ObjectLayout.HEADER_BYTES) / stride;
            for (long at = base; count > 0; at += stride, count--) {
                for (int i = 0; i < fields.count(); i++) {
                    copy.forward(memory, at + fields.offset(i), fields.type(i));
                }
            }
        }
    }
}
