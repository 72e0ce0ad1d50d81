package dev.rackcall.rack;

import java.nio.file.Path;
import java.util.Optional;

/**
 * One guest.
 *
 * @param name a capital letter from A
 * @param dax the shared memory, if it has any
 */
record GuestSpec(String name, Optional<DaxFile> dax) {
    /** From 1. */
    int number() {
        return name.charAt(0) - 'A' + 1;
    }

    String address() {
        return "10.77.0." + number();
    }

    /** Where its cable ends at the hub. */
    Path socket(Path folder) {
        return folder.resolve("net" + name);
    }
}
