package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;

/**
 * The limits of a directory, the same for all its members.
 *
 * @param memoryPerMember bytes of arenas that one member may map in total; an arena counts for each member that
 *     maps it
 * @param arenaIds how many arena ids exist; Refs have room for 65,535
 */
public record Limits(long memoryPerMember, int arenaIds) {
    /** The default: no bound on memory, all ids. */
    public static final Limits DEFAULT = new Limits(Long.MAX_VALUE, 0xffff);

    /** Checks both. */
    public Limits {
        if (memoryPerMember < 0 || arenaIds < 1 || arenaIds > 0xffff) {
            throw new DirectoryException(
                    Reason.INVALID,
                    "memory per member must not be negative and arena ids be 1 to 65535, but they are "
                            + memoryPerMember + " and " + arenaIds);
        }
    }
}
