package dev.rackcall.lock;

/**
 * A lock of a {@link LockTable} as one thread uses it: for threads that share memory with it and threads that reach it by RDMA (ALock, SPAA 2024, with
 * time-outs and recovery). First come, first served within each of the two cohorts; between them, a cohort hands over as often as its budget says. Not
 * reentrant. Confined to its session's thread.
 *
 * <p>Waits without a time-out last as long as others hold the lock. What dead ones hold a {@link LockKeeper} takes from them. Every method may throw
 * {@link LockConnectionException} if the lock is reached by RDMA, and {@link IllegalStateException} if its session or the memory it lies in is closed.
 * Once a session is lost every further call throws {@code LockConnectionException} if it was lost by one, else {@code IllegalStateException}, with the first as its cause: {@code unlock} in a {@code finally} block, too. By RDMA no time limit ends the wait for an
 * answer that is under way, 30 s at most.
 *
 * <p>What a thread by RDMA writes to what the lock guards goes another way than the lock's own requests, which nothing keeps in order: it must have arrived before {@link #unlock}. Post a READ of
 * the last bytes behind the WRITEs, over the same queue pair, and wait for its completion; READs must be completed, too. What nothing is waited for (a mirror's carrier) a lock by RDMA does not guard.
 */
public final class ALock extends TimedLock {
    private static final Descriptor NONE = new Descriptor(0);

    private final LockSession session;
    private final LockWords words;
    private final CohortQueue queue;
    private final long line;
    private final int index;
    private boolean held;
    /** With which it is held, or was the last time. Besides {@link #held}, so that the quickest way stores no reference: that costs more than the rest, for the garbage collector. */
    private Descriptor mine = NONE;

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
     * Waits as long as it takes; an interrupt is kept for later. A thread by memory that held this lock last and holds no other takes the same steps in the table as on any other way, without looking for anything beside them.
     */
    @Override
    public void lock() {
        Descriptor ready = mine;
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

    private void lockAmongOthers(Descriptor descriptor, long found) {
        waiting().forEver();
        try {
            if (!took(descriptor, queue.goOn(line, descriptor, found))) {
                throw endedWithoutLimit();
            }
        } finally {
            waiting().end();
        }
    }

    private void hold(Descriptor descriptor, int got) {
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

    /** Takes the lock, though others may read. */
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
            Descriptor descriptor = session.claim(line);
            int got = ifFree ? queue.acquireIfFree(line, descriptor) : queue.acquire(line, descriptor);
            return took(descriptor, got);
        } catch (LockConnectionException e) {
            throw session.lost(e);
        }
    }

    /** Whether what the queue has said means that this thread holds it. */
    private boolean took(Descriptor descriptor, int got) {
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
     * Hands it over. If the next in the queue has been stopped just as it entered, this takes 1 s at most, and then the keeper hands over. With a {@link LockFinisher} this may
     * return before that is done.
     *
     * @throws IllegalMonitorStateException if this thread does not hold it through this object
     */
    @Override
    public void unlock() {
        Descriptor descriptor = mine;
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
        Descriptor descriptor = mine;
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
            // An interrupt that came while the next was to link himself is the caller's.
            session.waiting().end();
        }
    }

    private void requireHeld() {
        if (!held) {
            throw new IllegalMonitorStateException(
                    this
                            + " is not held through this object: it is the ALock that was locked that is to be unlocked, and LockSession.lock makes a new one each time");
        }
    }

    /**
     * A number for this acquisition, greater than all that earlier holders of this lock got. A holder that is taken for dead and is not, because its lease or
     * its connection ended, does not know that the lock was given to another; what it guards can know, if it keeps the greatest number it was shown and
     * refuses smaller ones.
     *
     * @throws IllegalMonitorStateException if this thread does not hold the lock through this object
     */
    public long token() {
        session.requireUsable();
        requireHeld();
        session.resume();
        session.settle();
        if (token == 0) {
            // Only the holder writes it, so a read and a write are enough for both cohorts.
            try {
                long next = session.words().load(line + LockLayout.TOKEN) + 1;
                session.words().store(line + LockLayout.TOKEN, next);
                // Comes back when the write has arrived: a number that is shown must never be given again, even if this
                // connection ends now.
                session.words().load(line + LockLayout.TOKEN);
                token = next;
            } catch (LockConnectionException e) {
                throw session.lost(e);
            }
        }
        return token;
    }

    /** Whether this thread holds it through this object; says nothing once the session has lost its table. */
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
