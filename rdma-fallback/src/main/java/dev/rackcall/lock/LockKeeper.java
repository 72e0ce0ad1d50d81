package dev.rackcall.lock;

import static dev.rackcall.lock.LockLayout.KEEPER_AT;
import static dev.rackcall.lock.LockLayout.OWNER;
import static dev.rackcall.lock.LockLayout.descriptor;

import java.util.Optional;
import java.util.function.LongPredicate;

/**
 * Removes dead holders and waiters from the queues of a table, at the table's host. Each table has at most one keeper.
 * Thread-safe.
 *
 * <p>The keeper must be told which owners are dead. {@link LockOwners} detects it by locks that the kernel releases; an
 * arena's participants or a lease can be used, too. Nothing that a dead owner has sent may arrive later. So for a
 * remote owner, close this host's end of its queue pair first. A local owner's stores cannot be cut off: its process
 * must have ended, and an expired lease is not enough.
 */
public final class LockKeeper implements AutoCloseable {
    private final LockWords words;
    private final long owner;
    private final CohortRepair local;
    /** Empty if this table is not reached by RDMA. */
    private final Optional<CohortRepair> remote;

    private final int descriptors;
    private boolean closed;

    LockKeeper(LockWords words, Optional<LockWords> loopback, long owner, int descriptors) {
        this.words = words;
        this.owner = owner;
        this.descriptors = descriptors;
        local = new CohortRepair(words, words, false, descriptors);
        remote = loopback.map(atomics -> new CohortRepair(words, atomics, true, descriptors));
    }

    /**
     * Releases what dead owners hold or wait for, and hands over to the next threads. Call it about once a second, even
     * if no owner has died, and after each death. It reads each descriptor.
     *
     * <p>Only the keeper hands the lock to a thread that was stopped for a second just as it entered a queue. Only the
     * keeper frees the descriptors that a closed session had left in a queue after a wait that it gave up. Without a
     * keeper, such locks stay held and such descriptors are lost.
     *
     * @param isDead whether this owner is certainly dead; called with any number that an owner wrote into the table
     * @return how many descriptors of dead owners are still in queues, because a live thread has to take a step first
     * @throws IllegalStateException if it is closed; or if {@link LockTable#localKeeper} made it and a thread has come
     *     by RDMA, after local owners were recovered
     * @throws LockConnectionException if the loopback queue pair fails: close the keeper and make another one
     */
    public synchronized int recover(LongPredicate isDead) {
        if (closed) {
            throw new IllegalStateException("this keeper is closed");
        }
        int left = local.repair(isDead);
        return left + remote.map(cohort -> cohort.repair(isDead)).orElseGet(this::requireNobodyByRdma);
    }

    /** Fails even if no owner has died, so that the missing queue pair is noticed before a thread waits. */
    private int requireNobodyByRdma() {
        for (int number = descriptors + 1; number <= 2 * descriptors; number++) {
            long other = words.load(descriptor(number) + OWNER);
            if (other != 0) {
                throw new IllegalStateException(
                        "owner " + other + " has come to this lock table by RDMA, and this keeper has no queue pair to"
                                + " recover it when it dies; close the keeper, and make one by LockTable.keeper(loopback, ...)");
            }
        }
        return 0;
    }

    /** Lets another keeper take over. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            words.compareAndSwap(KEEPER_AT, owner, 0);
        }
    }
}
