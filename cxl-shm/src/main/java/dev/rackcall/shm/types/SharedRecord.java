package dev.rackcall.shm.types;

import dev.rackcall.shm.NullRefException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * Base class of generated flyweights: typed access to the fields of one record. Generated code passes offsets inside
 * the record. The record's bounds were checked when the flyweight moved to it. Parameters called {@code field} are the
 * field's name, for messages.
 */
public abstract class SharedRecord extends SharedObject {
    private static final int FIXED_STRING_LENGTH_BYTES = 2;

    /** Creates a flyweight that is on no object yet. */
    protected SharedRecord(SharedType<?> type) {
        super(type);
    }

    protected final boolean getBoolean(long offset) {
        return memory().get(ObjectLayout.BYTE, base() + offset) != 0;
    }

    protected final void putBoolean(long offset, boolean value) {
        writable().set(ObjectLayout.BYTE, base() + offset, (byte) (value ? 1 : 0));
    }

    protected final byte getByte(long offset) {
        return memory().get(ObjectLayout.BYTE, base() + offset);
    }

    protected final void putByte(long offset, byte value) {
        writable().set(ObjectLayout.BYTE, base() + offset, value);
    }

    protected final short getShort(long offset) {
        return memory().get(ObjectLayout.SHORT, base() + offset);
    }

    protected final void putShort(long offset, short value) {
        writable().set(ObjectLayout.SHORT, base() + offset, value);
    }

    protected final char getChar(long offset) {
        return memory().get(ObjectLayout.CHAR, base() + offset);
    }

    protected final void putChar(long offset, char value) {
        writable().set(ObjectLayout.CHAR, base() + offset, value);
    }

    protected final int getInt(long offset) {
        return memory().get(ObjectLayout.INT, base() + offset);
    }

    protected final void putInt(long offset, int value) {
        writable().set(ObjectLayout.INT, base() + offset, value);
    }

    protected final long getLong(long offset) {
        return memory().get(ObjectLayout.LONG, base() + offset);
    }

    protected final void putLong(long offset, long value) {
        writable().set(ObjectLayout.LONG, base() + offset, value);
    }

    protected final float getFloat(long offset) {
        return memory().get(ObjectLayout.FLOAT, base() + offset);
    }

    protected final void putFloat(long offset, float value) {
        writable().set(ObjectLayout.FLOAT, base() + offset, value);
    }

    protected final double getDouble(long offset) {
        return memory().get(ObjectLayout.DOUBLE, base() + offset);
    }

    protected final void putDouble(long offset, double value) {
        writable().set(ObjectLayout.DOUBLE, base() + offset, value);
    }

    protected final <E extends Enum<E>> E getEnum(long offset, E[] constants, String field) {
        int ordinal = getChar(offset);
        if (ordinal >= constants.length) {
            throw damaged(field + " of " + this + " has ordinal " + ordinal + ", but "
                    + constants.getClass().componentType().getSimpleName() + " has " + constants.length + " constants");
        }
        return constants[ordinal];
    }

    protected final <E extends Enum<E>> void putEnum(long offset, String field, E value) {
        putChar(offset, (char) notNull(value, field).ordinal());
    }

    protected final String getFixedString(long offset, int capacity, String field) {
        int length = getChar(offset);
        if (length > capacity) {
            throw damaged(field + " of " + this + " says it has " + length + " bytes; its capacity is " + capacity);
        }
        return SharedString.decode(memory(), base() + offset + FIXED_STRING_LENGTH_BYTES, length);
    }

    protected final void putFixedString(long offset, int capacity, String field, String value) {
        if (notNull(value, field).length() <= capacity && AsciiText.isShort(value)) {
            AsciiText.put(value, writable(), base() + offset + FIXED_STRING_LENGTH_BYTES);
            putChar(offset, (char) value.length());
            return;
        }
        byte[] utf8 = notNull(value, field).getBytes(StandardCharsets.UTF_8);
        if (utf8.length > capacity) {
            throw new IllegalArgumentException(field + ": the value takes " + utf8.length + " bytes of UTF-8, the field"
                    + " holds " + capacity + "; raise @FixedString or use a plain String");
        }
        MemorySegment.copy(
                utf8, 0, writable(), ObjectLayout.BYTE, base() + offset + FIXED_STRING_LENGTH_BYTES, utf8.length);
        putChar(offset, (char) utf8.length);
    }

    protected final String getString(long offset) {
        long ref = getLong(offset);
        return ref == Ref.NULL ? "" : textOf(ref);
    }

    protected final void putString(long offset, String field, String value) {
        Scope scope = allocatingScope(field);
        putLong(offset, SharedString.store(scope, notNull(value, field)));
    }

    protected final Optional<String> getOptionalString(long offset) {
        long ref = getLong(offset);
        return ref == Ref.NULL ? Optional.empty() : Optional.of(textOf(ref));
    }

    protected final void putOptionalString(long offset, String field, Optional<String> value) {
        if (notNull(value, field).isPresent()) {
            putString(offset, field, value.get());
        } else {
            putLong(offset, Ref.NULL);
        }
    }

    protected final byte[] getBytes(long offset) {
        long ref = getLong(offset);
        return ref == Ref.NULL ? new byte[0] : attachTo(SharedBytes.TYPE, ref).toArray();
    }

    protected final void putBytes(long offset, String field, byte[] value) {
        Scope scope = allocatingScope(field);
        putLong(offset, refOf(SharedBytes.copyOf(scope, notNull(value, field))));
    }

    protected final Optional<byte[]> getOptionalBytes(long offset) {
        return getLong(offset) == Ref.NULL ? Optional.empty() : Optional.of(getBytes(offset));
    }

    protected final void putOptionalBytes(long offset, String field, Optional<byte[]> value) {
        if (notNull(value, field).isPresent()) {
            putBytes(offset, field, value.get());
        } else {
            putLong(offset, Ref.NULL);
        }
    }

    protected final <T> T getReference(long offset, SharedType<T> type, String field) {
        long ref = getLong(offset);
        if (ref == Ref.NULL) {
            throw causeOf(new NullRefException(
                    field + " of " + this + " is null; if it may be, declare it as Optional or Ref of " + type.name()));
        }
        return attachTo(type, ref);
    }

    protected final <T> void putReference(long offset, SharedType<T> type, String field, T value) {
        putLong(offset, refOf(type.checked(value, field)));
    }

    protected final <T> Optional<T> getOptional(long offset, SharedType<T> type, String field) {
        return getLong(offset) == Ref.NULL ? Optional.empty() : Optional.of(getReference(offset, type, field));
    }

    protected final <T> void putOptional(long offset, SharedType<T> type, String field, Optional<T> value) {
        if (notNull(value, field).isPresent()) {
            putReference(offset, type, field, value.get());
        } else {
            putLong(offset, Ref.NULL);
        }
    }

    protected final <T> Ref<T> getRef(long offset) {
        return new Ref<>(getLong(offset));
    }

    protected final void putRef(long offset, String field, Ref<?> value) {
        putLong(offset, notNull(value, field).bits());
    }

    /**
     * Moves {@code into}, possibly this flyweight, to the referenced object; returns false if the reference is null.
     */
    protected final <T> boolean follow(long offset, SharedType<T> type, T into) {
        return moveTo(type, into, getLong(offset));
    }

    protected final <T> T getEmbedded(long offset, SharedType<T> type) {
        T part = type.flyweight();
        of(part).embed(this, offset, type.bytes());
        return part;
    }

    protected final <T extends SharedSequence> T getFixedArray(long offset, int length, SharedType<T> type) {
        T part = type.flyweight();
        part.embed(this, offset, Math.toIntExact(part.bytesFor(length)));
        return part;
    }

    private static <T> T notNull(T value, String field) {
        if (value == null) {
            throw new NullPointerException(field + ": null; a field that may be absent is an Optional or a Ref");
        }
        return value;
    }
}
