package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Array;
import java.util.Objects;

/**
 * A fixed number of primitive values in an arena, zero at first. Not thread-safe.
 *
 * @param <A> the Java array to copy from and to
 */
public abstract class PrimitiveArray<A> extends SharedSequence {
    private final ValueLayout layout;

    PrimitiveArray(Type<?, A> type) {
        super(type);
        this.layout = type.layout;
    }

    /** Copies {@code count} values from a Java array into this one, from {@code index} on. */
    public final void copyFrom(A source, int sourceIndex, int index, int count) {
        Objects.checkFromIndexSize(index, count, length());
        MemorySegment.copy(source, sourceIndex, writable(), layout, start() + index * layout.byteSize(), count);
    }

    /** Copies {@code count} values of this array, from {@code index} on, into a Java array. */
    public final void copyTo(int index, A target, int targetIndex, int count) {
        Objects.checkFromIndexSize(index, count, length());
        MemorySegment.copy(memory(), layout, start() + index * layout.byteSize(), target, targetIndex, count);
    }

    /** A copy on the Java heap. */
    public final A toArray() {
        A copy = newArray(length());
        copyTo(0, copy, 0, length());
        return copy;
    }

    @SuppressWarnings("unchecked") // A is the array type of the layout's carrier
    final A newArray(int length) {
        return (A) Array.newInstance(layout.carrier(), length);
    }

    /** The type of an array. */
    abstract static class Type<T extends PrimitiveArray<A>, A> extends SharedSequence.Type<T> {
        private final ValueLayout layout;

        Type(Class<T> type, ValueLayout layout) {
            super(type, type.getSimpleName(), (int) layout.byteSize());
            this.layout = layout;
        }

        final T copyOf(Scope scope, A values, int length) {
            T created = createOf(scope, length);
            created.copyFrom(values, 0, 0, length);
            return created;
        }
    }
}
