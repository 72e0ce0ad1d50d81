package dev.rackcall.shm;

/** The reference fields of one type, those of embedded types included: offsets from the start of the record, and what they lead to. */
final class References {
    private final int[] offsets;
    private final SharedType<?>[] types;

    References(int[] offsets, SharedType<?>[] types) {
        this.offsets = offsets;
        this.types = types;
    }

    int count() {
        return offsets.length;
    }

    int offset(int field) {
        return offsets[field];
    }

    SharedType<?> type(int field) {
        return types[field];
    }
}
