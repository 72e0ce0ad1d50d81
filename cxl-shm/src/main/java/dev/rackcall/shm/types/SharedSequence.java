package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A fixed number of elements of one size: text, bytes and arrays. The number follows from the size in the header. It is
 * checked once, when the flyweight moves to the object, and kept in the Java heap, where a peer cannot change it.
 */
public abstract class SharedSequence extends SharedObject {
    private final Type<?> type;
    private final int elementBytes;
    /** As in the type. */
    private final int shift;
    /** Only if the length of an element is no power of two: a division takes longer than all checks of an object. */
    private int quotient;

    SharedSequence(Type<?> type) {
        super(type, type.shift < 0);
        this.type = type;
        this.elementBytes = type.elementBytes;
        this.shift = type.shift;
    }

    /** Number of elements; for text, of bytes. */
    public final int length() {
        memory();
        return elements();
    }

    private int elements() {
        return shift < 0 ? quotient : (bytes() - ObjectLayout.HEADER_BYTES) >> shift;
    }

    @Override
    final void placed() {
        quotient = type.elements(bytes() - ObjectLayout.HEADER_BYTES);
    }

    /** Offset of an element in {@link #memory}. */
    final long at(int index) {
        return base() + ObjectLayout.HEADER_BYTES + (long) Objects.checkIndex(index, elements()) * elementBytes;
    }

    /** Offset of the first element. */
    final long start() {
        return base() + ObjectLayout.HEADER_BYTES;
    }

    final long bytesFor(int elements) {
        return ObjectLayout.HEADER_BYTES + (long) elements * elementBytes;
    }

    /**
     * Copies {@code count} elements between two sequences of one type, or within one. The caller checks the indexes.
     */
    final void copyElements(int from, SharedSequence target, int to, int count) {
        MemorySegment.copy(
                memory(),
                start() + (long) from * elementBytes,
                target.writable(),
                target.start() + (long) to * elementBytes,
                (long) count * elementBytes);
    }

    /** The type of a sequence. Every size of whole elements is valid. */
    abstract static class Type<T extends SharedSequence> extends SharedType<T> {
        private final int elementBytes;
        /** Divides by the length of an element if that is a power of two, otherwise -1. */
        private final int shift;

        Type(Class<? super T> type, String name, int elementBytes) {
            this(type, name, elementBytes, "");
        }

        /** @param elements what a layout line says of the elements beside their size */
        Type(Class<? super T> type, String name, int elementBytes, String elements) {
            super(type, name, ObjectLayout.HEADER_BYTES, name + "[" + elements + elementBytes + " bytes each]");
            this.elementBytes = elementBytes;
            this.shift = Integer.bitCount(elementBytes) == 1 ? Integer.numberOfTrailingZeros(elementBytes) : -1;
        }

        /** How many elements fit. */
        private int elements(int elementsBytes) {
            return shift < 0 ? elementsBytes / elementBytes : elementsBytes >> shift;
        }

        final T createOf(Scope scope, int length) {
            return create(scope, bytesOf(length));
        }

        /** As {@link #createOf(Scope, int)}, but moves a flyweight. */
        final void createOf(Scope scope, T into, int length) {
            create(scope, into, bytesOf(length));
        }

        private long bytesOf(int length) {
            if (length < 0) {
                throw new IllegalArgumentException("a " + name() + " of negative length " + length + " was asked");
            }
            return ObjectLayout.HEADER_BYTES + (long) length * elementBytes;
        }

        @Override
        final boolean isSize(int objectBytes) {
            // First, since the difference overflows for the negative sizes that a peer may write.
            if (objectBytes < ObjectLayout.HEADER_BYTES) {
                return false;
            }
            int elementsBytes = objectBytes - ObjectLayout.HEADER_BYTES;
            return elements(elementsBytes) * elementBytes == elementsBytes;
        }

        @Override
        protected void references(ReferenceFields fields) {}
    }
}
