package dev.rackcall.verbs;

import java.util.Objects;

/**
 * How to reach a port (struct ibv_ah_attr).
 *
 * @param gid the destination's global address
 * @param lid the destination's local address; 0 on Ethernet and on the software device
 * @param sourceGidIndex index of the source GID in the local port's table
 * @param port the local port
 * @param serviceLevel InfiniBand service level
 * @param hopLimit routers that a packet may pass
 */
public record AddressVector(Gid gid, int lid, int sourceGidIndex, int port, int serviceLevel, int hopLimit) {
    /** Checks the ranges. */
    public AddressVector {
        Objects.requireNonNull(gid, "gid");
        if (lid < 0 || lid > 0xFFFF || sourceGidIndex < 0 || sourceGidIndex > 255 || port < 1 || port > 255) {
            throw new IllegalArgumentException("not an address vector: lid " + lid + " (0-65535), source GID index "
                    + sourceGidIndex + " (0-255), port " + port + " (1-255)");
        }
        if (serviceLevel < 0 || serviceLevel > 15 || hopLimit < 0 || hopLimit > 255) {
            throw new IllegalArgumentException("not an address vector: service level " + serviceLevel
                    + " (0-15), hop limit " + hopLimit + " (0-255)");
        }
    }

    /** To this GID, from port 1 and its GID of this index. */
    public static AddressVector of(Gid gid, int sourceGidIndex) {
        return new AddressVector(gid, 0, sourceGidIndex, 1, 0, 64);
    }
}
