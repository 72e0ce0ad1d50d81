package dev.rackcall.shm;

import java.util.ArrayList;
import java.util.List;

/** Collects the reference fields of a type. Generated code tells it; users have no use for it. */
public final class ReferenceFields {
    private final List<Integer> offsets = new ArrayList<>();
    private final List<SharedType<?>> types = new ArrayList<>();

    ReferenceFields() {}

    /** A field that holds a Ref to an object of that type. */
    public void reference(long offset, SharedType<?> type) {
        offsets.add(Math.toIntExact(offset));
        types.add(type);
    }

    /** The fields of a type that lies in this record without its header. */
    public void embedded(long offset, SharedType<?> type) {
        References inner = type.references();
        for (int i = 0; i < inner.count(); i++) {
            reference(offset - ObjectLayout.HEADER_BYTES + inner.offset(i), inner.type(i));
        }
    }

    /** An array of references that lies in this record without its header. */
    public <T> void array(long offset, int length, SharedType<SharedArray<T>> type) {
        SharedType<T> elements = SharedArray.elementType(type);
        for (int i = 0; i < length; i++) {
            reference(offset + (long) i * Long.BYTES, elements);
        }
    }

    References collected() {
        return new References(
                offsets.stream().mapToInt(Integer::intValue).toArray(), types.toArray(new SharedType<?>[0]));
    }
}
