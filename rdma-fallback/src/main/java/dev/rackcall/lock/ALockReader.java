package dev.rackcall.lock;

/**
 * A lock of a {@link LockTable} for one thread that only reads what it guards: others may hold it so, too, while nobody holds it as {@link ALock}. Who enters takes the lock
 * for a moment, and so waits in its queue behind who wants it alone; {@link #tryLock()} fails while somebody else enters. Not reentrant, and no way from reading to holding
 * alone. Confined to its session's thread; errors as for {@link ALock}.
 */
public final class ALockReader extends TimedLock {
    private final LockSession session;
    private final ALock lock;
    private final Readers readers;
    private Descriptor reading;

    ALockReader(LockSession session, ALock lock, Readers readers) {
        super(session.waiting());
        this.session = session;
        this.lock = lock;
        this.readers = readers;
    }

    @Override
    void prepare() {
        session.requireUsable();
        if (reading != null) {
            throw new IllegalMonitorStateException(this + " is held by this thread already, and it is not reentrant");
        }
    }

    @Override
    boolean acquire(boolean ifFree) {
        if (!lock.enter(ifFree)) {
            return false;
        }
        Descriptor mine = claim();
        try {
            readers.enter(lock.line(), mine);
        } catch (LockConnectionException e) {
            throw session.lost(e);
        }
        reading = mine;
        lock.unlock();
        return true;
    }

    private void requireHeld() {
        session.requireUsable();
        if (reading == null) {
            throw new IllegalMonitorStateException(this + " is not held by this thread");
        }
        session.resume();
        session.settle();
    }

    private Descriptor claim() {
        try {
            return session.claimBeside(lock.line());
        } catch (LockConnectionException e) {
            throw session.lost(e);
        } catch (IllegalStateException e) {
            // There is no descriptor left.
            lock.unlock();
            throw e;
        }
    }

    /**
     * Reads no more. Waits for nobody; but with a {@link LockFinisher} an unlock of this session that is open is ended first, which may take as long as {@link ALock#unlock} without one.
     *
     * @throws IllegalMonitorStateException if this thread does not hold it through this object
     */
    @Override
    public void unlock() {
        requireHeld();
        Descriptor mine = reading;
        reading = null;
        try {
            readers.leave(mine);
        } catch (LockConnectionException e) {
            throw session.lost(e);
        }
        session.freed(mine);
    }

    /**
     * Whether what was read since this reader got the lock is of one moment: nobody has held it alone meanwhile. That is so, except for a reader that was taken for dead and is
     * not, since its lease or its connection has ended: it does not know that the lock was given to somebody who writes. What it read is to be thrown away then, and its session is
     * lost. By RDMA this takes a round trip, and {@link LockConnectionException} means the same as false. (Who writes has {@link ALock#token()} for that.)
     *
     * @throws IllegalMonitorStateException if this thread does not hold it through this object
     */
    public boolean validate() {
        requireHeld();
        try {
            boolean isIn = readers.isIn(reading);
            if (!isIn) {
                session.lose(new IllegalStateException(
                        this + " was taken from this thread, whose owner was taken for dead while it read"));
            }
            return isIn;
        } catch (LockConnectionException e) {
            throw session.lost(e);
        }
    }

    /** Whether this thread holds it through this object; says nothing once the session has lost its table. */
    public boolean isHeld() {
        return reading != null;
    }

    @Override
    public String toString() {
        return lock + " for reading";
    }
}
