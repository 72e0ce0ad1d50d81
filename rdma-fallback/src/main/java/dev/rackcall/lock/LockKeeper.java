package dev.rackcall.lock;

import static dev.rackcall.lock.LockLayout.KEEPER_AT;
import static dev.rackcall.lock.LockLayout.OWNER;
import static dev.rackcall.lock.LockLayout.descriptor;

import java.util.Optional;
import java.util.function.LongPredicate;

/**
 * Takes dead holders and waiters out of the queues of a table, at the host where it lies. There is one at a time for each table. Any thread may use it.
 *
 * <p>It proves nobody's death: it must be told. {@link LockOwners} does, by locks that the kernel releases; an arena's participants or a lease do as well. Nothing that a
 * dead one has sent may arrive later: whoever says that a remote owner is dead closes this host's end of its queue pair before. A local owner's stores cannot be cut off: it
 * must have ended; a lease that has run out is not enough.
 */
public final class LockKeeper implements AutoCloseable {
    private final LockWords words;
    private final long owner;
    private final CohortRepair local;
    /** None if this table is not reached by RDMA. */
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
     * Takes what dead owners hold or wait for from them, and hands over to those who come next. To be called each second or so, also if nobody has died, and when somebody has: it
     * costs a look at each descriptor. A thread that was stopped for a second just as it entered a queue is handed the lock by this alone, and what a session that was closed had still in a queue,
     * after a wait that it gave up, is given back by this alone. Without, the lock stays held, and the descriptor is lost.
     *
     * @param isDead whether this owner, of whom the table knows something, is certainly dead; asked with any number that an owner wrote there
     * @return how many places in queues are still those of dead owners, because somebody who lives has to take a step first
     * @throws IllegalStateException if it is closed; if it was made by {@link LockTable#localKeeper} and somebody has come by RDMA, after it has done this for those who have not
     * @throws LockConnectionException if the loopback queue pair fails: close the keeper and make another one
     */
    public synchronized int recover(LongPredicate isDead) {
        if (closed) {
            throw new IllegalStateException("this keeper is closed");
        }
        int left = local.repair(isDead);
        return left + remote.map(cohort -> cohort.repair(isDead)).orElseGet(this::requireNobodyByRdma);
    }

    /** Now, and not when he has died: whoever forgot the queue pair is to know it as long as nobody waits. */
    private int requireNobodyByRdma() {
        for (int number = descriptors + 1; number <= 2 * descriptors; number++) {
            long other = words.load(descriptor(number) + OWNER);
            if (other != 0) {
                throw new IllegalStateException(
                        "owner " + other + " has come to this lock table by RDMA, and this keeper has no queue pair to"
                                + " take him out with when he dies; close it, and make one by LockTable.keeper(loopback, ...)");
            }
        }
        return 0;
    }

    /** Lets somebody else be the keeper. */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            words.compareAndSwap(KEEPER_AT, owner, 0);
        }
    }
}
