package dev.rackcall.shm.types;

import java.util.Arrays;

/** Collects the reference fields of a type, for generated code only. */
public final class ReferenceFields {
    private int[] offsets = new int[4];
    private SharedType<?>[] types = new SharedType<?>[4];
    private int count;

    ReferenceFields() {}

    /** A field that holds a Ref to an object of that type. */
    public void reference(long offset, SharedType<?> type) {
        if (count == offsets.length) {
            offsets = Arrays.copyOf(offsets, 2 * count);
            types = Arrays.copyOf(types, 2 * count);
        }
        offsets[count] = Math.toIntExact(offset);
        types[count++] = type;
    }

    /** The fields of a type that is embedded in this record without its header. */
    public void embedded(long offset, SharedType<?> type) {
        ReferenceFields inner = type.references();
        for (int i = 0; i < inner.count(); i++) {
            reference(offset - ObjectLayout.HEADER_BYTES + inner.offset(i), inner.type(i));
        }
    }

    /** An array of references that is embedded in this record without its header. */
    public <T> void array(long offset, int length, SharedType<SharedArray<T>> type) {
        SharedType<T> elements = SharedArray.elementType(type);
        for (int i = 0; i < length; i++) {
            reference(offset + (long) i * Long.BYTES, elements);
        }
    }

    int count() {
        return count;
    }

    /** Offset from the start of the record. */
    int offset(int field) {
        return offsets[field];
    }

    SharedType<?> type(int field) {
        return types[field];
    }
}
