package dev.rackcall.lock;

/**
 * A lock of a {@link LockTable} as one thread uses it, by memory or by RDMA. Implements ALock (SPAA 2024), with
 * timeouts and recovery. Each of the two cohorts is served first come, first served; after as many hand-overs as its
 * budget, a cohort lets the other compete. Not reentrant. Confined to its session's thread.
 *
 * <p>A wait without a timeout lasts until the lock is free; a {@link LockKeeper} frees locks of dead holders. Every
 * method may throw {@link LockConnectionException} for a lock by RDMA, and {@link IllegalStateException} if its session
 * or the memory of the table is closed. After a failure the session is lost: each further call, including {@code
 * unlock} in a {@code finally} block, throws an exception of the same kind with the first failure as its cause. By
 * RDMA, a call waits for a pending answer for up to 30 s, even beyond its time limit.
 *
 * <p>A thread by RDMA writes the guarded data over a different queue pair than the lock's, and requests of the two
 * have no order. Its data must have arrived before {@link #unlock}: after the last WRITE, post a READ of the last bytes
 * on the same queue pair and wait for its completion. READs must be completed, too. A lock by RDMA does not guard
 * writes that are never awaited, such as those of a mirror's carrier.
 */
public final class ALock extends TimedLock {
    private static final LockDescriptor NONE = new LockDescriptor(0);

    private final LockSession session;
    private final LockWords words;
    private final CohortQueue queue;
    private final long line;
    private final int index;
    private boolean held;
    /**
     * The descriptor that holds the lock, or the last one that held it. Kept beside {@link #held} so that the fast path
     * stores no reference: the garbage collector's barrier would cost more than the rest.
     */
    private LockDescriptor mine = NONE;

    private int budget;
    private long token;

    ALock(LockSession session, long line, int index) {
        super(session.waiting());
        this.session = session;
        this.words = session.words();
        this.queue = session.queue();
        this.line = line;
        this.index = index;
    }

    /**
     * Waits without limit; an interrupt is kept for later. On the fast path, for a local thread that held this lock
     * last and holds no other, the steps in the table are the same and all other checks are omitted.
     */
    @Override
    public void lock() {
        LockDescriptor ready = mine;
        if (!session.isReady(ready, line)) {
            super.lock();
            return;
        }
        session.use(ready);
        long found = CohortQueue.joinEmpty(words, line, ready.own);
        if (found == 0 && CohortQueue.isRemoteQueueEmpty(words, line)) {
            budget = queue.fullBudget();
            token = 0;
            held = true;
        } else {
            lockAmongOthers(ready, found);
        }
    }

    private void lockAmongOthers(LockDescriptor descriptor, long found) {
        waiting().forEver();
        try {
            if (!took(descriptor, queue.goOn(line, descriptor, found))) {
                throw endedWithoutLimit();
            }
        } finally {
            waiting().end();
        }
    }

    private void hold(LockDescriptor descriptor, int got) {
        budget = got;
        token = 0;
        mine = descriptor;
        held = true;
    }

    @Override
    void prepare() {
        session.requireUsable();
        if (held) {
            throw new IllegalMonitorStateException(this + " is held by this thread already, and it is not reentrant");
        }
    }

    @Override
    boolean acquire(boolean ifFree) {
        if (!enter(ifFree)) {
            return false;
        }
        if (session.readers().isEmpty() || awaitReaders(session.readers().get())) {
            return true;
        }
        unlock();
        return false;
    }

    private boolean awaitReaders(Readers readers) {
        try {
            return readers.awaitNone(line);
        } catch (LockConnectionException e) {
            throw session.lost(e);
        }
    }

    /** Takes the lock from other exclusive holders; readers may still read. */
    boolean enter(boolean ifFree) {
        session.resume();
        try {
            return join(ifFree);
        } finally {
            session.settleAll();
        }
    }

    private boolean join(boolean ifFree) {
        try {
            if (!session.mayEnter(line, ifFree)) {
                return false;
            }
            LockDescriptor descriptor = session.claim(line);
            int got = ifFree ? queue.acquireIfFree(line, descriptor) : queue.acquire(line, descriptor);
            return took(descriptor, got);
        } catch (LockConnectionException e) {
            throw session.lost(e);
        }
    }

    /** Handles the queue's result; returns whether this thread holds the lock. */
    private boolean took(LockDescriptor descriptor, int got) {
        switch (got) {
            case CohortQueue.LEFT -> session.freed(descriptor);
            case CohortQueue.QUEUED -> session.gone(descriptor);
            case CohortQueue.STUCK -> session.leaveToKeeper(descriptor);
            case CohortQueue.TAKEN -> throw session.takenOut(this, descriptor);
            default -> hold(descriptor, got);
        }
        return got >= 0;
    }

    /**
     * Hands the lock over. If the next thread was stopped just as it entered the queue, this takes up to 1 s, and then
     * the keeper hands over. With a {@link LockFinisher} this may return earlier.
     *
     * @throws IllegalMonitorStateException if this thread does not hold it through this object
     */
    @Override
    public void unlock() {
        LockDescriptor descriptor = mine;
        if (held && session.isDirect() && CohortQueue.leaveAlone(words, line, descriptor.own)) {
            held = false;
            session.freedAlone(descriptor);
        } else {
            unlockSlowly();
        }
    }

    private void unlockSlowly() {
        session.requireUsable();
        requireHeld();
        LockDescriptor descriptor = mine;
        held = false;
        try {
            session.resume();
            session.settle();
            if (!session.unlockLater(line, descriptor, budget - 1)) {
                session.released(descriptor, queue.release(line, descriptor, budget - 1));
            }
        } catch (LockConnectionException e) {
            throw session.lost(e);
        } finally {
            // Restores an interrupt that came while the next thread linked itself.
            session.waiting().end();
        }
    }

    private void requireHeld() {
        if (!held) {
            throw new IllegalMonitorStateException(
                    this
                            + " is not held through this object: unlock the ALock object that was locked; LockSession.lock makes a new one each time");
        }
    }

    /**
     * A number for this acquisition, greater than those of all earlier holders. A live holder whose lease or connection
     * has ended may be declared dead, and then cannot notice that the lock has a new holder. The guarded data can
     * detect this: it stores the greatest number it was shown and refuses smaller ones.
     *
     * @throws IllegalMonitorStateException if this thread does not hold the lock through this object
     */
    public long token() {
        session.requireUsable();
        requireHeld();
        session.resume();
        session.settle();
        if (token == 0) {
            // Only the holder writes it, so a read and a write suffice for both cohorts.
            try {
                long next = session.words().load(line + LockLayout.TOKEN) + 1;
                session.words().store(line + LockLayout.TOKEN, next);
                // Waits until the write has arrived: a number that was returned must never be returned again, even if
                // this connection ends now.
                session.words().load(line + LockLayout.TOKEN);
                token = next;
            } catch (LockConnectionException e) {
                throw session.lost(e);
            }
        }
        return token;
    }

    /** Whether this thread holds it through this object; undefined once the session has lost its table. */
    public boolean isHeld() {
        return held;
    }

    long line() {
        return line;
    }

    @Override
    public String toString() {
        return "lock " + index + (session.words().isRemote() ? " (by RDMA)" : " (by memory)");
    }
}
