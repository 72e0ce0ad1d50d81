package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A fixed number of elements of one size: text, bytes and arrays. The number follows from the size in the header. It is
 * checked once, when the flyweight moves to the object, and kept in the Java heap, where a peer cannot change it.
 */
public abstract class SharedSequence extends SharedObject {
    private final int elementBytes;
    private int length;

    SharedSequence(Type<?> type) {
        super(type);
        this.elementBytes = type.elementBytes;
    }

    /** Number of elements; for text, of bytes. */
    public final int length() {
        memory();
        return length;
    }

    @Override
    final void placed(int bytes) {
        length = (bytes - ObjectLayout.HEADER_BYTES) / elementBytes;
    }

    /** Offset of an element in {@link #memory}. */
    final long at(int index) {
        return base() + ObjectLayout.HEADER_BYTES + (long) Objects.checkIndex(index, length) * elementBytes;
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

        Type(Class<? super T> type, String name, int elementBytes) {
            this(type, name, elementBytes, "");
        }

        /** @param elements what a layout line says of the elements beside their size */
        Type(Class<? super T> type, String name, int elementBytes, String elements) {
            super(type, name, ObjectLayout.HEADER_BYTES, name + "[" + elements + elementBytes + " bytes each]");
            this.elementBytes = elementBytes;
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
            return objectBytes >= ObjectLayout.HEADER_BYTES
                    && (objectBytes - ObjectLayout.HEADER_BYTES) % elementBytes == 0;
        }

        @Override
        protected void references(ReferenceFields fields) {}
    }
}
