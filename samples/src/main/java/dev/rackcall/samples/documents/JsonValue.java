package dev.rackcall.samples.documents;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedInlineArray;
import dev.rackcall.shm.types.SharedString;
import dev.rackcall.shm.types.SharedType;

/**
 * One JSON value in shared memory, with its name if it is a member of an object. A document is a tree of values. A
 * value refers to its children, which lie side by side, and members with equal names share one text.
 */
@Shared
public interface JsonValue {
    /** The type, looked up once. */
    SharedType<JsonValue> TYPE = SharedType.of(JsonValue.class);

    /** The type of the children of an array or object. */
    SharedType<SharedInlineArray<JsonValue>> CHILDREN = SharedInlineArray.typeOf(TYPE);

    /** The kinds. Their order is part of the memory layout. */
    enum Kind {
        NULL,
        BOOLEAN,
        /** A whole number that fits a {@code long}. */
        INTEGER,
        /** A number whose decimal digits a {@code double} keeps. */
        DOUBLE,
        /** Any other number, kept as text so that no digit is lost. */
        DECIMAL,
        TEXT,
        ARRAY,
        OBJECT
    }

    Kind kind();

    JsonValue kind(Kind value);

    /** The value of an INTEGER, the bits of a DOUBLE, 0 or 1 for a BOOLEAN; 0 for all others. */
    long bits();

    JsonValue bits(long value);

    /** The name of a member of an object; null for all other values. */
    Ref<SharedString> name();

    JsonValue name(Ref<SharedString> value);

    boolean name(SharedString into);

    /** The text of a TEXT, or the digits of a DECIMAL; null for all others. */
    Ref<SharedString> text();

    JsonValue text(Ref<SharedString> value);

    boolean text(SharedString into);

    /** The elements of an ARRAY or the members of an OBJECT; null for all others. */
    Ref<SharedInlineArray<JsonValue>> children();

    JsonValue children(Ref<SharedInlineArray<JsonValue>> value);

    boolean children(SharedInlineArray<JsonValue> into);
}
