package dev.rackcall.perf.objects;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedInlineArray;
import dev.rackcall.shm.types.SharedString;
import dev.rackcall.shm.types.SharedType;

/** One value of a document, with its name; a document is a tree of values, as the sample application has it. */
@Shared
interface Field {
    SharedType<Field> TYPE = SharedType.of(Field.class);
    SharedType<SharedInlineArray<Field>> CHILDREN = SharedInlineArray.typeOf(TYPE);

    /** The kinds. */
    enum Kind {
        NUMBER,
        TRUTH,
        TEXT,
        OBJECT,
        ARRAY
    }

    Kind kind();

    Field kind(Kind value);

    /** A number or a truth value. */
    long bits();

    Field bits(long value);

    /** Absent for elements of arrays. */
    Ref<SharedString> name();

    Field name(Ref<SharedString> value);

    boolean name(SharedString into);

    Ref<SharedString> text();

    Field text(Ref<SharedString> value);

    boolean text(SharedString into);

    Ref<SharedInlineArray<Field>> children();

    Field children(Ref<SharedInlineArray<Field>> value);

    boolean children(SharedInlineArray<Field> into);
}
