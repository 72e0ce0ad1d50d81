package dev.rackcall.shm.types;

import dev.rackcall.shm.NullRefException;

/**
 * Base class of generated flyweights of interfaces with {@link Since}: knows which part of the record the flyweight's
 * object has. Offsets and field names are as in {@link SharedRecord}.
 */
public abstract class VersionedRecord extends SharedRecord {
    /** Creates a flyweight without an object. */
    protected VersionedRecord(SharedType<?> type) {
        super(type);
    }

    /**
     * Whether the object has the field that ends at that offset. A flyweight on no object says yes, so that the access
     * itself reports it.
     */
    protected final boolean hasField(long end) {
        return end <= bytes() || isNowhere();
    }

    /** Throws an exception unless the object has the field that ends at that offset. */
    protected final void requireField(long end, String field) {
        if (!hasField(end)) {
            throw new UnsupportedOperationException(field + " cannot be written: " + this
                    + " was created by a process with an older version of the interface, and has " + bytes()
                    + " bytes where this field needs " + end
                    + "; create the object in a process with the newer version, or copy its fields into a new one");
        }
    }

    /** The failure of reading a reference that an older object does not have, and that must not be null. */
    protected final NullRefException nullReference(String field) {
        return new NullRefException(field + " of " + this
                + " is null: the object was created by a process with an older version of the interface; declare the field as"
                + " Optional or Ref");
    }
}
