package dev.rackcall.lock;

import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import java.util.Objects;

/**
 * How a thread reaches a lock table by RDMA. All of it stays the caller's, and nothing else may use it while a session does. All queue pairs to a table must end
 * at one device of its host: atomics of two devices are not atomic with each other.
 *
 * @param queuePair reliable and connected, with room for 32 sends and 8 bytes inline
 * @param completions where its sends complete, and nothing else
 * @param scratch {@link LockTable#SCRATCH_BYTES} at least, registered with LOCAL_WRITE
 * @param address where the table begins, as its host names it
 * @param key for reading, writing and atomics there
 */
public record LockLink(QueuePair queuePair, CompletionQueue completions, MemoryRegion scratch, long address, int key) {
    /** Checks the values. */
    public LockLink {
        Objects.requireNonNull(completions, "completions");
        if (queuePair.maxInline() < Long.BYTES || scratch.byteSize() < RdmaWords.SCRATCH_BYTES) {
            throw new IllegalArgumentException(
                    "a lock's queue pair needs room for 8 bytes inline and " + RdmaWords.SCRATCH_BYTES
                            + " bytes of scratch memory, not " + queuePair.maxInline() + " and " + scratch.byteSize());
        }
        if (address % LockLayout.LINE != 0) {
            throw new IllegalArgumentException(
                    "a lock table lies at a multiple of 64, not at " + Long.toHexString(address));
        }
    }
}
