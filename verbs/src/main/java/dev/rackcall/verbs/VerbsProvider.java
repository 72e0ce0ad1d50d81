package dev.rackcall.verbs;

import java.util.List;
import java.util.Optional;

/** A kind of device, found by {@link java.util.ServiceLoader}. Use {@link Devices} instead. */
public interface VerbsProvider {
    /** The devices that exist now. Does not fail if a library, a driver or hardware is missing. */
    List<Device> devices();

    /** The device of this name, including devices that {@link #devices} does not list because they exist on demand. */
    Optional<Device> find(String name);

    /** One sentence for an operator: which devices there are, or why there are none and what would help. */
    String diagnosis();
}
