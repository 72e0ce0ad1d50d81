package dev.rackcall.cp;

import dev.rackcall.verbs.Gid;
import java.util.Objects;

/**
 * Where a meta server or an agent receives control messages. The address is valid as long as that process lives; a
 * directory can publish the current address, see {@code MetaDirectory}.
 *
 * @param gid the device's global address
 * @param number the number of the queue pair for control messages
 */
public record ControlAddress(Gid gid, int number) {
    /** Checks that the GID is not null, and that the number fits into 24 bits. */
    public ControlAddress {
        Objects.requireNonNull(gid, "gid");
        if (number >>> 24 != 0) {
            throw new IllegalArgumentException("not the number of a queue pair: " + number + " (24 bits)");
        }
    }

    /** The reverse of {@link #toString()}. */
    public static ControlAddress parse(String text) {
        int slash = text.indexOf('/');
        if (slash < 0) {
            throw new IllegalArgumentException("not a control address: '" + text + "'; write GID/NUMBER");
        }
        return new ControlAddress(Gid.parse(text.substring(0, slash)), Integer.parseInt(text.substring(slash + 1)));
    }

    @Override
    public String toString() {
        return gid + "/" + number;
    }
}
