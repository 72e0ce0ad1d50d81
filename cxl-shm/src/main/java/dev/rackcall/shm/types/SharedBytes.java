package dev.rackcall.shm.types;

import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;

/** A fixed number of bytes in an arena, zero at first. Not thread-safe. */
public final class SharedBytes extends PrimitiveArray<byte[]> {
    private static final Type<SharedBytes, byte[]> BYTES_TYPE = new Type<>(SharedBytes.class, ObjectLayout.BYTE) {
        @Override
        public SharedBytes flyweight() {
            return new SharedBytes();
        }
    };
    public static final SharedType<SharedBytes> TYPE = BYTES_TYPE;

    private SharedBytes() {
        super(BYTES_TYPE);
    }

    /** Creates {@code length} zero bytes. */
    public static SharedBytes create(Scope scope, int length) {
        return BYTES_TYPE.createOf(scope, length);
    }

    /** Copies the bytes into a scope. */
    public static SharedBytes copyOf(Scope scope, byte[] bytes) {
        return BYTES_TYPE.copyOf(scope, bytes, bytes.length);
    }

    public byte get(int index) {
        return memory().get(ObjectLayout.BYTE, at(index));
    }

    public void set(int index, byte value) {
        writable().set(ObjectLayout.BYTE, at(index), value);
    }

    /**
     * The bytes in place, for bulk operations; valid as long as their scope. Do not store there while a call has the
     * scope sealed: the store changes nothing and throws an {@link InternalError}.
     */
    public MemorySegment segment() {
        Scope owner = scope();
        if (owner != null) {
            owner.expose();
        }
        return memory().asSlice(start(), length());
    }
}
