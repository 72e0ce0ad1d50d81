package dev.rackcall.rack.guest;

import dev.rackcall.shm.types.Shared;
import dev.rackcall.shm.types.SharedList;
import java.util.Optional;

/** An object with a pointer, a text and a list, which one guest builds and another reads. */
@Shared
public interface Crate {
    /** Its number. */
    long id();

    /** Sets it. */
    Crate id(long value);

    /** Text of any length. */
    String label();

    /** Sets it. */
    Crate label(String value);

    /** The crate below, unless it stands on the ground. */
    Optional<Crate> below();

    /** Sets it. */
    Crate below(Optional<Crate> value);

    /** Crates inside. */
    SharedList<Crate> inside();

    /** Sets them. */
    Crate inside(SharedList<Crate> value);
}
