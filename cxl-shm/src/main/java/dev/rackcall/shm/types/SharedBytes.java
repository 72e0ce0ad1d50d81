package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** Bytes in an arena, fixed in number; zero at first. Not thread-safe. */
public final class SharedBytes extends SharedSequence {
    private static final Type<SharedBytes> BYTES_TYPE = new BytesType();
    public static final SharedType<SharedBytes> TYPE = BYTES_TYPE;

    private SharedBytes(Type<SharedBytes> type) {
        super(type);
    }

    /** {@code length} zero bytes in a scope. */
    public static SharedBytes create(Scope scope, int length) {
        return BYTES_TYPE.createOf(scope, length);
    }

    /** A copy of those bytes in a scope. */
    public static SharedBytes copyOf(Scope scope, byte[] bytes) {
        SharedBytes created = create(scope, bytes.length);
        created.copyFrom(bytes, 0, 0, bytes.length);
        return created;
    }

    public byte get(int index) {
        return memory().get(ObjectLayout.BYTE, at(index));
    }

    public void set(int index, byte value) {
        writable().set(ObjectLayout.BYTE, at(index), value);
    }

    /** Copies {@code count} bytes from a Java array to {@code index} on. */
    public void copyFrom(byte[] source, int sourceIndex, int index, int count) {
        Objects.checkFromIndexSize(index, count, length());
        MemorySegment.copy(source, sourceIndex, writable(), ObjectLayout.BYTE, start() + index, count);
    }

    /** Copies {@code count} bytes from {@code index} on to a Java array. */
    public void copyTo(int index, byte[] target, int targetIndex, int count) {
        Objects.checkFromIndexSize(index, count, length());
        MemorySegment.copy(memory(), ObjectLayout.BYTE, start() + index, target, targetIndex, count);
    }

    /** A copy on the Java heap. */
    public byte[] toArray() {
        byte[] copy = new byte[length()];
        copyTo(0, copy, 0, copy.length);
        return copy;
    }

    /**
     * The bytes in place, for bulk operations; valid as long as the scope that holds them. Do not store there while a call has the scope sealed: such a store
     * changes nothing and ends in an {@link InternalError}.
     */
    public MemorySegment segment() {
        Scope owner = scope();
        if (owner != null) {
            owner.expose();
        }
        return memory().asSlice(start(), length());
    }

    private static final class BytesType extends Type<SharedBytes> {
        private BytesType() {
            super(SharedBytes.class, "SharedBytes", Byte.BYTES);
        }

        @Override
        public SharedBytes flyweight() {
            return new SharedBytes(this);
        }
    }
}
