package dev.rackcall.lock;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;

/**
 * A word in the own memory of a thread that waits for locks by RDMA: whoever hands a lock over writes there, so that waiting needs no device. It belongs to one
 * session, and to no other one of another table, for as long as anybody uses the table: what was sent to it may arrive after the session has ended.
 *
 * @param node under which number others have it among their {@link LockPeers}
 * @param region registered with {@link Access#REMOTE_WRITE} at the device that those reach
 * @param offset of the word in the region, in bytes; a multiple of 8
 */
public record LockBell(int node, MemoryRegion region, long offset) {
    /** Checks the values. */
    public LockBell {
        if (offset < 0 || offset % Long.BYTES != 0 || offset + Long.BYTES > region.byteSize()) {
            throw new IllegalArgumentException("a lock's bell lies at a multiple of 8 within its region of "
                    + region.byteSize() + " bytes, not at " + offset);
        }
    }
}
