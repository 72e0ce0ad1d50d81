package dev.rackcall.perf.jmh;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.types.Shared;

/** The shared type that is measured. */
@Shared
public interface Item {
    /** A field of eight bytes. */
    long number();

    /** Sets it. */
    void number(long value);

    /** A text outside the record. */
    String text();

    /** Sets it. */
    void text(String value);

    /** The next in a ring of items. */
    Ref<Item> next();

    /** Sets it. */
    void next(Ref<Item> value);

    /** Moves a flyweight to the next item. */
    boolean next(Item into);
}
