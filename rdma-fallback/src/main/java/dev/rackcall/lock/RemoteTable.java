package dev.rackcall.lock;

import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import java.util.Objects;
import java.util.Optional;

/**
 * How a thread reaches a lock table by RDMA. The caller keeps ownership of all of it, but only the session may
 * use it while it is open. All queue pairs to a table must end at one device of its host: atomics of two devices are
 * not atomic with each other.
 *
 * @param queuePair reliable and connected, with room for 32 sends and 8 bytes inline
 * @param completions where its sends complete, and nothing else
 * @param scratch {@link LockTable#SCRATCH_BYTES} at least, registered with LOCAL_WRITE
 * @param address where the table begins, as its host names it
 * @param key for reading, writing and atomics there
 * @param bell the word in this thread's memory where it waits for a lock; without a bell, it polls the table's host
 * @param peers the queue pairs that ring the bells of the threads behind this one
 * @param finisher completes unlocks for which the thread does not wait; without a finisher, it waits
 */
public record RemoteTable(
        QueuePair queuePair,
        CompletionQueue completions,
        MemoryRegion scratch,
        long address,
        int key,
        Optional<LockBell> bell,
        LockPeers peers,
        Optional<LockFinisher> finisher) {
    /** The lines of the last look, a word for the result of an atomic, and one for a result that is awaited later. */
    static final long SCRATCH_BYTES = (LockWords.MOST_LINES + 1L) * LockLayout.LINE;

    /** Checks the values. */
    public RemoteTable {
        Objects.requireNonNull(completions, "completions");
        if (queuePair.maxInline() < Long.BYTES || scratch.byteSize() < SCRATCH_BYTES) {
            throw new IllegalArgumentException("a lock's queue pair needs room for 8 bytes inline and " + SCRATCH_BYTES
                    + " bytes of scratch memory, not " + queuePair.maxInline() + " and " + scratch.byteSize());
        }
        if (address % LockLayout.LINE != 0) {
            throw new IllegalArgumentException(
                    "a lock table lies at a multiple of 64, not at " + Long.toHexString(address));
        }
        finisher.ifPresent(thread -> thread.require(scratch.memory()));
    }

    /** Without a bell, peers and a finisher. */
    public RemoteTable(QueuePair queuePair, CompletionQueue completions, MemoryRegion scratch, long address, int key) {
        this(queuePair, completions, scratch, address, key, Optional.empty(), LockPeers.create(), Optional.empty());
    }

    /** For a thread that waits at its own bell, and rings those of others. */
    public RemoteTable withBell(LockBell own, LockPeers others) {
        return new RemoteTable(queuePair, completions, scratch, address, key, Optional.of(own), others, finisher);
    }

    /**
     * For a keeper that rings the bells of the threads it hands over to. No session and no other keeper may use these
     * peers.
     */
    public RemoteTable withPeers(LockPeers others) {
        return new RemoteTable(queuePair, completions, scratch, address, key, bell, others, finisher);
    }

    /**
     * For a thread that does not wait for its unlocks. The finisher uses the peers, too.
     *
     * @throws IllegalArgumentException if the scratch memory is confined to a thread
     */
    public RemoteTable withFinisher(LockFinisher thread) {
        return new RemoteTable(queuePair, completions, scratch, address, key, bell, peers, Optional.of(thread));
    }
}
