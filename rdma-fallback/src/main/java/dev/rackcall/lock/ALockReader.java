package dev.rackcall.lock;

/**
 * A lock of a {@link LockTable} for one thread that only reads the guarded data, together with other readers, while no
 * thread holds it as {@link ALock}. To enter, a reader briefly takes the lock itself, so it queues behind waiting
 * writers; {@link #tryLock()} fails while another thread enters. Not reentrant, and a reader cannot become a writer.
 * Confined to its session's thread; errors as for {@link ALock}.
 */
public final class ALockReader extends TimedLock {
    private final LockSession session;
    private final ALock lock;
    private final Readers readers;
    private LockDescriptor reading;

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
        LockDescriptor mine = claim();
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

    private LockDescriptor claim() {
        try {
            return session.claimBeside(lock.line());
        } catch (LockConnectionException e) {
            throw session.lost(e);
        } catch (IllegalStateException e) {
            // No descriptor is left for reading.
            lock.unlock();
            throw e;
        }
    }

    /**
     * Ends reading, without waiting. With a {@link LockFinisher}, a pending unlock of this session is completed first,
     * which may take as long as {@link ALock#unlock} without one.
     *
     * @throws IllegalMonitorStateException if this thread does not hold it through this object
     */
    @Override
    public void unlock() {
        requireHeld();
        LockDescriptor mine = reading;
        reading = null;
        try {
            readers.leave(mine);
        } catch (LockConnectionException e) {
            throw session.lost(e);
        }
        session.freed(mine);
    }

    /**
     * Whether no thread has held the lock exclusively since this reader got it, and all that was read is consistent.
     * False only for a live reader that was declared dead because its lease or connection ended. It must discard what
     * it read, and its session is lost. By RDMA this takes a round trip, and {@link LockConnectionException} means
     * false. Writers use {@link ALock#token()} instead.
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

    /** Whether this thread holds it through this object; undefined once the session has lost its table. */
    public boolean isHeld() {
        return reading != null;
    }

    @Override
    public String toString() {
        return lock + " for reading";
    }
}
