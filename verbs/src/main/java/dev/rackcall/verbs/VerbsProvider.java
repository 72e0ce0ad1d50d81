package dev.rackcall.verbs;

import java.util.List;
import java.util.Optional;

/** A kind of device, found by {@link java.util.ServiceLoader}. Use {@link Devices} instead. */
public interface VerbsProvider {
    /** The devices that are there now; never fails for want of a library, a driver or hardware. */
    List<Device> devices();

    /** The device of this name, also one that {@link #devices} does not list because it comes into being by being named. */
    Optional<Device> find(String name);

    /** One sentence for people: what there is, or why there is nothing and what would help. */
    String diagnosis();
}
