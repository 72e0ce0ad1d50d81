package dev.rackcall.lock;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;

/**
 * A word in the memory of a thread that waits for locks by RDMA. The thread that hands a lock over writes the word, so
 * that waiting needs no device. The word belongs to one session of one table for as long as the table is used: a late
 * write may arrive after the session has ended.
 *
 * @param node names this node in the {@link LockPeers} of other threads
 * @param region registered with {@link Access#REMOTE_WRITE} at the device that those threads reach
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
