package dev.rackcall.rdma.lock;

import static dev.rackcall.rdma.lock.LockLayout.KEEPER_AT;

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
    private final CohortRepair remote;
    private boolean closed;

    LockKeeper(LockWords words, LockWords loopback, long owner, int descriptors) {
        this.words = words;
        this.owner = owner;
        local = new CohortRepair(words, words, false, descriptors);
        remote = new CohortRepair(words, loopback, true, descriptors);
    }

    /**
     * Takes what dead owners hold or wait for from them, and hands over to those who come next. To be called each second or so, also if nobody has died, and when somebody has: it
     * costs a look at each descriptor. A thread that was stopped for a second just as it entered a queue is handed the lock by this alone, and what a session that was closed had still in a queue,
     * after a wait that it gave up, is given back by this alone. Without, the lock stays held, and the descriptor is lost.
     *
     * @param isDead whether this owner, of whom the table knows something, is certainly dead; asked with any number that an owner wrote there
     * @return how many places in queues are still those of dead owners, because somebody who lives has to take a step first
     * @throws IllegalStateException if it is closed
     * @throws LockConnectionException if the loopback queue pair fails: close the keeper and make another one
     */
    public synchronized int recover(LongPredicate isDead) {
        if (closed) {
            throw new IllegalStateException("this keeper is closed");
        }
        return local.repair(isDead) + remote.repair(isDead);
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
