package dev.rackcall.directory.file;

import java.util.Arrays;

/** The content of an entry's file: the owner in the first line, then the value. An entry of no member has owner "". */
final class Entry {
    private final String owner;
    private final byte[] value;

    private Entry(String owner, byte[] value) {
        this.owner = owner;
        this.value = value;
    }

    /** The value is not copied and must not change. */
    static Entry of(String owner, byte[] value) {
        return new Entry(owner, value);
    }

    String owner() {
        return owner;
    }

    byte[] value() {
        return value;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Entry entry && owner.equals(entry.owner) && Arrays.equals(value, entry.value);
    }

    @Override
    public int hashCode() {
        return owner.hashCode() * 31 + Arrays.hashCode(value);
    }
}
