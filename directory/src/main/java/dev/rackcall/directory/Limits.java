package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;

/**
 * What a directory hands out, the same for all its members.
 *
 * @param memoryPerMember bytes of arenas that one member may have mapped together; an arena counts for everybody who has it mapped
 * @param arenaIds how many arena ids there are; Refs have room for 65,535
 */
public record Limits(long memoryPerMember, int arenaIds) {
    /** What holds until somebody says otherwise: no bound on memory, all ids. */
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
